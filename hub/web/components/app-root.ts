import { useEffect, useState } from 'preact/hooks'
import { storedToken, takeToken } from '../address.ts'
import { systemClock } from '../clock.ts'
import { useStore } from '../hooks.ts'
import { html } from '../html.ts'
import { createMcp } from '../mcp.ts'
import { createOutbox } from '../outbox.ts'
import { createPanelData } from '../panel-data.ts'
import { createSession } from '../session.ts'
import { Gate } from './gate.ts'
import { Shell } from './shell.ts'

/** The whole page: the gate, or behind it the session of one token. */
export function App() {
  const [token, setToken] = useState(firstToken)
  const [cause, setCause] = useState<string | null>(null)

  useEffect(() => {
    const onHash = () => {
      const brought = takeToken()
      if (brought) accept(brought)
    }
    addEventListener('hashchange', onHash)
    return () => removeEventListener('hashchange', onHash)
  }, [])

  function accept(next: string) {
    if (!isSendable(next)) {
      setCause('malformed')
      return
    }
    storedToken.set(next)
    setCause(null)
    setToken(next)
  }

  /** Returns to the gate; without a reason the person asked to leave. */
  function leave(reason: string | null) {
    if (reason !== 'forbidden') storedToken.forget()
    if (reason === null) createOutbox(() => localStorage).clear()
    setCause(reason)
    setToken(null)
  }

  if (!token) return html`<${Gate} cause=${cause} onToken=${accept} />`
  return html`<${Connected} key=${token} token=${token} onLeave=${leave} />`
}

function firstToken() {
  const brought = takeToken()
  if (brought) storedToken.set(brought)
  const token = brought ?? storedToken.get()
  return token && isSendable(token) ? token : null
}

/**
 * Tells whether a WebSocket's subprotocol can carry the token: it must be an HTTP token (RFC 9110, 5.6.2); a
 * browser throws at anything else.
 */
function isSendable(token: string) {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(token)
}

function Connected({ token, onLeave }: { token: string; onLeave: (cause: string | null) => void }) {
  const [{ session, panel }] = useState(() => openHub(token))
  const link = useStore(session.link)

  useEffect(() => {
    const onVisible = () => {
      if (document.visibilityState === 'visible') session.wake()
    }
    session.start()
    addEventListener('online', session.wake)
    addEventListener('pageshow', onVisible)
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      removeEventListener('online', session.wake)
      removeEventListener('pageshow', onVisible)
      document.removeEventListener('visibilitychange', onVisible)
      session.stop()
    }
  }, [session])

  useEffect(() => {
    if (link.status === 'refused') onLeave(link.cause)
  }, [link])

  return html`<${Shell} session=${session} panel=${panel} onForget=${() => onLeave(null)} />`
}

function openHub(token: string) {
  const mcp = createMcp({ url: new URL('./mcp', document.baseURI), token })
  const panel = createPanelData({ mcp, clock: systemClock })
  const session = createSession({
    mcp,
    openSocket: () => new WebSocket(socketUrl(), ['superbloom.v1', `bearer.${token}`]),
    outbox: createOutbox(() => localStorage),
    clock: systemClock,
    random: Math.random,
    newId,
    schedule,
    onWelcome: panel.touch,
    onNews: panel.touch,
  })
  return { session, panel }
}

function socketUrl() {
  const url = new URL('./ws', document.baseURI)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return url
}

/** Makes an id. `randomUUID` exists only on https and localhost; a hub in a house is often neither. */
function newId() {
  if (crypto.randomUUID) return crypto.randomUUID()
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')
}

/** Runs it with the next frame on the screen; a hidden page draws none, so a timer runs it there. */
function schedule(run: () => void) {
  if (document.visibilityState === 'visible') requestAnimationFrame(run)
  else setTimeout(run, 250)
}
