import { useEffect, useState } from 'preact/hooks'
import { storedSession, takeStoredToken, takeToken } from '../address.ts'
import { systemClock } from '../clock.ts'
import { createFiles } from '../files.ts'
import { useStore } from '../hooks.ts'
import { html } from '../html.ts'
import { createMcp } from '../mcp.ts'
import { lookForUpdate } from '../offline.ts'
import { createOutbox } from '../outbox.ts'
import { createPanelData } from '../panel-data.ts'
import { forgetPush, renewPush } from '../push.ts'
import { createSession } from '../session.ts'
import { type SignedIn, type SignIn, signIn, signOut } from '../sign-in.ts'
import { createStore } from '../store.ts'
import { Gate, SwitchPerson, Waiting } from './gate.ts'
import { Shell } from './shell.ts'

/** Milliseconds after which a sign-in at a hub that cannot be reached is tried again. */
const AGAIN = 3_000
/** Milliseconds in which a burst of news ends. */
const SETTLE = 1_000

/** The whole page: the gate, the wait for a sign-in, or the session behind them. */
export function App() {
  const [brought, setBrought] = useState(takeBrought)
  const [token, setToken] = useState(storedSession.get)
  const [offered, setOffered] = useState<SignedIn | null>(null)
  const [cause, setCause] = useState<string | null>(null)

  useEffect(() => {
    const onHash = () => {
      const secret = takeToken()
      if (secret) accept(secret)
    }
    addEventListener('hashchange', onHash)
    return () => removeEventListener('hashchange', onHash)
  }, [])

  function accept(secret: string) {
    setCause(isSendable(secret) ? null : 'malformed')
    if (isSendable(secret)) setBrought(secret)
  }

  function enter(answer: SignIn) {
    setBrought(null)
    if ('token' in answer) {
      // A link that somebody else sent must not make a person write in another name unnoticed.
      if (token && answer.name !== storedSession.name()) setOffered(answer)
      else begin(answer)
    } else if (!token) leave(answer.cause)
  }

  function begin({ token: next, name }: SignedIn) {
    if (token) void signOut(token)
    storedSession.set(next, name)
    setToken(next)
  }

  /** Begins the session of another person, with nothing of the one before, or stays. */
  function choose(switches: boolean) {
    setOffered(null)
    if (!offered) return
    if (!switches) return void signOut(offered.token)
    createOutbox(() => localStorage).clear()
    begin(offered)
  }

  /** Returns to the gate; without a reason the person asked to leave. */
  function leave(reason: string | null) {
    const stored = storedSession.get()
    // Another tab signed in anew, which ended this session.
    if (reason !== null && stored && stored !== token) return setToken(stored)
    if (reason !== 'forbidden') storedSession.forget()
    if (reason === null) {
      createOutbox(() => localStorage).clear()
      void forgetPush().catch(() => undefined)
      if (token) void signOut(token)
    }
    setCause(reason)
    setToken(null)
  }

  if (brought) return html`<${SigningIn} key=${brought} secret=${brought} onAnswer=${enter} />`
  if (offered)
    return html`<${SwitchPerson} from=${storedSession.name()} to=${offered.name} onChoice=${choose} />`
  if (!token) return html`<${Gate} cause=${cause} onToken=${accept} />`
  return html`<${Connected} key=${token} token=${token} onLeave=${leave} />`
}

/** Returns the token that the address, or an earlier version of the page, holds. */
function takeBrought() {
  const secret = takeToken() ?? (storedSession.get() ? null : takeStoredToken())
  return secret && isSendable(secret) ? secret : null
}

/** Shows that a token is exchanged for a session, until the hub answers. */
function SigningIn({ secret, onAnswer }: { secret: string; onAnswer: (answer: SignIn) => void }) {
  const [isLost, setLost] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const attempt = async () => {
      const answer = await signIn(secret)
      if (isOver) return
      if ('token' in answer || answer.cause !== 'unreachable') return onAnswer(answer)
      setLost(true)
      timer = setTimeout(attempt, AGAIN)
    }
    void attempt()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [secret])
  return html`<${Waiting} text=${isLost ? 'The hub cannot be reached. Trying again …' : 'Signing in …'} />`
}

/**
 * Tells whether a WebSocket's subprotocol can carry the token: it must be an HTTP token (RFC 9110, 5.6.2); a
 * browser throws at anything else.
 */
function isSendable(token: string) {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(token)
}

function Connected({ token, onLeave }: { token: string; onLeave: (cause: string | null) => void }) {
  const [{ session, ...parts }] = useState(() => openHub(token))
  const link = useStore(session.link)

  useEffect(() => {
    const onVisible = () => {
      if (document.visibilityState === 'visible') session.wake()
    }
    session.start()
    void renewPush()
    addEventListener('online', session.wake)
    addEventListener('pageshow', onVisible)
    addEventListener('pagehide', session.conversations.finish)
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      removeEventListener('online', session.wake)
      removeEventListener('pageshow', onVisible)
      removeEventListener('pagehide', session.conversations.finish)
      document.removeEventListener('visibilitychange', onVisible)
      session.conversations.finish()
      session.stop()
    }
  }, [session])

  useEffect(() => {
    if (link.status === 'refused') onLeave(link.cause)
  }, [link])

  return html`<${Shell} session=${session} ...${parts} onForget=${() => onLeave(null)} />`
}

function openHub(token: string) {
  const mcp = createMcp({ url: new URL('./mcp', document.baseURI), token })
  const panel = createPanelData({ mcp, clock: systemClock })
  const { news, report } = createNews()
  const session = createSession({
    mcp,
    files: createFiles(token),
    openSocket: () => new WebSocket(socketUrl(), ['superbloom.v1', `bearer.${token}`]),
    outbox: createOutbox(() => localStorage),
    clock: systemClock,
    random: Math.random,
    newId,
    schedule,
    onWelcome: () => {
      report()
      panel.touch()
      lookForUpdate()
    },
    onNews: () => {
      report()
      panel.touch()
    },
  })
  return { session, mcp, panel, news }
}

/** Counts what may have changed the answers of the hub's tools; a burst counts once. */
function createNews() {
  const news = createStore(0)
  let isPending = false
  const report = () => {
    if (isPending) return
    isPending = true
    systemClock.after(SETTLE, () => {
      isPending = false
      news.set(news.get() + 1)
    })
  }
  return { news, report }
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
