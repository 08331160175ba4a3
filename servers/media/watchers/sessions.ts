import type { WebSocket } from 'ws'
import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import type { Emit } from '../../kit/events.ts'
import { ToolFailure } from '../../kit/failure.ts'
import type { Follower, Watcher } from '../../kit/server.ts'
import { type Jellyfin, readSessions, toJellyfinHeaders } from '../upstreams/jellyfin/jellyfin.ts'
import { sessions } from '../upstreams/jellyfin/shapes.ts'
import { createTranscodes, type Transcodes } from './transcodes.ts'

/** Smallest number of milliseconds between two pushes. */
const PUSH_EVERY = 1500
const KEEP_ALIVE = 30_000
/**
 * Milliseconds without a message after which the connection counts as dead: Jellyfin asks for a keep-alive
 * every minute.
 */
const SILENCE = 150_000
const FIRST_PUSH = 20_000
const MAX_MESSAGE = 10 * 1024 * 1024

const message = z.object({ MessageType: z.string(), Data: z.unknown().optional() })

/**
 * Creates the watchers that raise transcode_started: Jellyfin's push over its socket, and polls while there
 * is no push.
 */
export function createSessionWatchers(
  jellyfin: Jellyfin,
  deps: { every: number; clock: Clock; emit: Emit },
): [Follower, Watcher] {
  const transcodes = createTranscodes(jellyfin.name, deps.emit)
  const push = { live: false }
  const follower: Follower = {
    name: `sessions of ${jellyfin.name}, pushed`,
    follow: (signal, ready) => followSocket(jellyfin, deps.clock, transcodes, push, signal, ready),
  }
  const watcher: Watcher = {
    name: `sessions of ${jellyfin.name}`,
    every: deps.every,
    async poll() {
      if (push.live) return
      const found = await readSessions(jellyfin)
      // Sessions that were pushed in the meantime are newer than the polled ones.
      if (!push.live) transcodes.compare(found)
    },
  }
  return [follower, watcher]
}

async function followSocket(
  jellyfin: Jellyfin,
  clock: Clock,
  transcodes: Transcodes,
  push: { live: boolean },
  signal: AbortSignal,
  ready: () => void,
): Promise<void> {
  const { WebSocket } = await import('ws')
  signal.throwIfAborted()
  const url = `${jellyfin.settings.URL.replace(/^http/, 'ws')}/socket`
  const socket = new WebSocket(url, {
    headers: toJellyfinHeaders(jellyfin.settings.API_KEY),
    maxPayload: MAX_MESSAGE,
    handshakeTimeout: FIRST_PUSH,
  })
  const ended = Promise.withResolvers<void>()
  const fail = (why: string) => ended.reject(toLost(jellyfin, why))
  const timers = createTimers(socket, clock, fail)
  const onAbort = () => ended.resolve()
  signal.addEventListener('abort', onAbort, { once: true })
  socket.on('open', () =>
    socket.send(JSON.stringify({ MessageType: 'SessionsStart', Data: `0,${PUSH_EVERY}` })),
  )
  socket.on('error', error => fail(error.message))
  socket.on('close', code => fail(`Jellyfin closed the connection (${code})`))
  socket.on('message', data => {
    timers.heard()
    const sent = readMessage(String(data))
    if (sent?.MessageType !== 'Sessions') return
    const parsed = sessions.safeParse(sent.Data)
    if (!parsed.success) return fail('it pushes sessions in a form that is not known')
    if (!push.live) ready()
    push.live = true
    transcodes.compare(parsed.data)
  })
  try {
    await ended.promise
  } finally {
    push.live = false
    timers.cancel()
    signal.removeEventListener('abort', onAbort)
    socket.removeAllListeners()
    // Ending a socket before it is open raises an error that nobody handles.
    socket.on('error', () => undefined)
    socket.terminate()
  }
}

/** Sends a keep-alive every half minute, and fails if the other side is silent. */
function createTimers(socket: WebSocket, clock: Clock, fail: (why: string) => void) {
  let cancelSilence = clock.after(FIRST_PUSH, () => fail('it does not push what is playing'))
  let cancelBeat = clock.after(KEEP_ALIVE, beat)
  function beat() {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ MessageType: 'KeepAlive' }))
    cancelBeat = clock.after(KEEP_ALIVE, beat)
  }
  return {
    heard() {
      cancelSilence()
      cancelSilence = clock.after(SILENCE, () => fail('nothing came over the connection for minutes'))
    },
    cancel() {
      cancelSilence()
      cancelBeat()
    },
  }
}

function readMessage(text: string): z.output<typeof message> | undefined {
  try {
    return message.safeParse(JSON.parse(text)).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function toLost(jellyfin: Jellyfin, why: string): ToolFailure {
  return new ToolFailure({
    what: `The push of ${jellyfin.upstream.title} does not work; it is polled instead.`,
    where: `${jellyfin.upstream.address}/socket`,
    why,
    fix: 'Let a proxy in front of Jellyfin pass WebSockets on, or leave it: polling does the same, a little later.',
  })
}
