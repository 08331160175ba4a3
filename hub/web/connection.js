/** @import { Clock, Frame, Link, Probe } from './types.d.ts' */

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
 * returns.
 * @param {number} attempt
 * @param {number} random in [0, 1)
 */
export function backoff(attempt, random) {
  const ceiling = Math.min(30_000, 1_000 * 2 ** Math.min(attempt - 1, 10))
  return Math.round(ceiling / 2 + (ceiling / 2) * random)
}

/**
 * Keeps one WebSocket to the hub open: it connects, detects dead links, and reconnects with growing pauses.
 * It knows nothing of conversations; its user subscribes again on each `welcome` frame. It queues nothing:
 * `send` says whether the frame went out.
 * @param {object} parts
 * @param {() => WebSocket} parts.openSocket
 * @param {() => Promise<Probe>} parts.probe asks by plain request why a socket did not open; never rejects
 * @param {Clock} parts.clock
 * @param {() => number} parts.random
 * @param {(frame: Frame) => void} parts.onFrame
 * @param {(link: Link) => void} parts.onLink
 */
export function createConnection({ openSocket, probe, clock, random, onFrame, onLink }) {
  /** @type {WebSocket | null} */
  let socket = null
  /** @type {Link['status'] | 'stopped'} */
  let status = 'stopped'
  let attempt = 0
  let heardAt = 0
  /** @type {(() => void) | undefined} */
  let cancelTimer

  /** @param {Link} link */
  function enter(link) {
    status = link.status
    onLink(link)
  }

  /** @param {number} delay @param {() => void} run */
  function arm(delay, run) {
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

  /** @param {WebSocket} mine @param {unknown} data */
  function hear(mine, data) {
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

  /** @param {number} within */
  function ask(within) {
    const mine = socket
    if (mine && send({ type: 'ping' })) arm(within, () => lose(mine))
  }

  /** @param {WebSocket} mine */
  function lose(mine) {
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

  /** @param {Probe} cause */
  function pause(cause) {
    const delay = backoff(Math.max(1, attempt), random())
    enter({ status: 'waiting', attempt, retryAt: clock.now() + delay, cause })
    arm(delay, connect)
  }

  /** @param {Frame} frame */
  function send(frame) {
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

/** @param {unknown} data @returns {Frame | null} null for whatever is no frame */
function parseFrame(data) {
  if (typeof data !== 'string') return null
  try {
    const frame = JSON.parse(data)
    return frame && typeof frame.type === 'string' ? frame : null
  } catch {
    return null
  }
}
