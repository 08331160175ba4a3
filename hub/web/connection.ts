import type { HubFrame, SentFrame } from '../../schemas/chat.ts'
import type { Clock } from './clock.ts'

/** State of the page's connection. `refused` is final until there is a new token. */
export type Link =
  | { status: 'connecting'; attempt: number }
  | { status: 'open' }
  | { status: 'waiting'; attempt: number; retryAt: number; cause: Probe }
  | { status: 'refused'; cause: Probe }

/** Reason why a connection failed, as far as a plain request can tell. */
export type Probe = 'lost' | 'unreachable' | 'unauthorized' | 'forbidden' | 'no-socket'

/** Milliseconds within which a socket must receive welcome; else it is given up. */
export const WELCOME_WITHIN = 15_000
/** Milliseconds without a frame after which the link is pinged. */
export const PING_AFTER = 25_000
export const PONG_WITHIN = 10_000
/** Milliseconds for the pong when the page comes back to the front: somebody is waiting. */
export const PONG_WITHIN_AWAKE = 4_000

/**
 * Returns how long to wait before the attempt with this number (from 1): it doubles from one second to
 * thirty, of which half is jitter, so that the pages of a house do not all connect at once when the hub
 * returns. `random` is in [0, 1).
 */
export function backoff(attempt: number, random: number) {
  const ceiling = Math.min(30_000, 1_000 * 2 ** Math.min(attempt - 1, 10))
  return Math.round(ceiling / 2 + (ceiling / 2) * random)
}

interface ConnectionParts {
  openSocket: () => WebSocket
  /** Asks by a plain request why a socket did not open; never rejects. */
  probe: () => Promise<Probe>
  clock: Clock
  random: () => number
  onFrame: (frame: HubFrame) => void
  onLink: (link: Link) => void
}

/**
 * Keeps one WebSocket to the hub open: it connects, detects dead links, and reconnects with growing pauses.
 * It knows nothing of conversations; its user subscribes again on each `welcome` frame. It queues nothing:
 * `send` says whether the frame went out.
 */
export function createConnection(parts: ConnectionParts) {
  const { openSocket, probe, clock, random, onFrame, onLink } = parts
  let socket: WebSocket | null = null
  let status: Link['status'] | 'stopped' = 'stopped'
  let attempt = 0
  let heardAt = 0
  let cancelTimer: (() => void) | undefined

  function enter(link: Link) {
    status = link.status
    onLink(link)
  }

  function arm(delay: number, run: () => void) {
    cancelTimer?.()
    cancelTimer = clock.after(delay, run)
  }

  function connect() {
    attempt += 1
    enter({ status: 'connecting', attempt })
    const mine = openSocket()
    socket = mine
    arm(WELCOME_WITHIN, () => lose(mine))
    mine.addEventListener('message', event => hear(mine, event.data))
    mine.addEventListener('close', () => lose(mine))
  }

  function hear(mine: WebSocket, data: unknown) {
    if (mine !== socket) return
    heardAt = clock.now()
    const frame = parseFrame(data)
    if (!frame) return
    if (frame.type === 'welcome') {
      attempt = 0
      enter({ status: 'open' })
    }
    if (status === 'open') watch()
    onFrame(frame)
  }

  /** Starts the link's only timer, which sends a ping when no frame came for a while. */
  function watch() {
    arm(PING_AFTER, () => ask(PONG_WITHIN))
  }

  function ask(within: number) {
    const mine = socket
    if (mine && send({ type: 'ping' })) arm(within, () => lose(mine))
  }

  function lose(mine: WebSocket) {
    if (mine !== socket) return
    const wasOpen = status === 'open'
    socket = null
    cancelTimer?.()
    mine.close()
    if (wasOpen) pause('lost')
    else void explain()
  }

  async function explain() {
    const cause = await probe()
    if (status !== 'connecting' || socket) return
    if (cause === 'unauthorized' || cause === 'forbidden') enter({ status: 'refused', cause })
    else pause(cause)
  }

  function pause(cause: Probe) {
    const delay = backoff(Math.max(1, attempt), random())
    enter({ status: 'waiting', attempt, retryAt: clock.now() + delay, cause })
    arm(delay, connect)
  }

  function send(frame: SentFrame) {
    if (status !== 'open' || !socket || socket.readyState !== 1) return false
    socket.send(JSON.stringify(frame))
    return true
  }

  return {
    start() {
      if (status === 'stopped') connect()
    },
    send,
    /** Ends the pause: the network is back, or somebody looks at the page. */
    wake() {
      if (status === 'waiting') connect()
      else if (status === 'open') ask(PONG_WITHIN_AWAKE)
    },
    stop() {
      const last = socket
      socket = null
      status = 'stopped'
      cancelTimer?.()
      last?.close()
    },
    /** Returns when the last frame arrived, unix milliseconds. */
    heardAt: () => heardAt,
  }
}

/** Returns null for whatever is no frame. */
function parseFrame(data: unknown): HubFrame | null {
  if (typeof data !== 'string') return null
  try {
    const frame = JSON.parse(data)
    return frame && typeof frame.type === 'string' ? frame : null
  } catch {
    return null
  }
}
