import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { HubFrame } from '../../schemas/chat.ts'
import { systemClock } from '../core/clock.ts'

/** Bytes that may wait for a client: a slower one is closed, to spare memory, and comes back with `after`. */
const MOST_BUFFERED = 16 * 1024 * 1024
/** Milliseconds that a frame of activity may wait for others: a screen refreshes no faster than this. */
const ACTIVITY_MS = 16

type Activity = Extract<HubFrame, { type: 'delta' | 'agent' | 'tool' }>

/** Sends frames to one client, in order. */
export interface Sender {
  (frame: HubFrame): void
  /** Drops the frames that still wait. */
  stop: () => void
}

/**
 * Creates a sender that writes the frames of one round of I/O together. Streamed text, tool activity and
 * agents' states wait up to ACTIVITY_MS for the next frame, and the pieces of a text among them become one: a
 * frame and a write for each word would cost more than the reply.
 */
export function createSender(ws: WebSocket, socket: Duplex): Sender {
  let waiting: Activity[] = []
  let cancel: (() => void) | undefined
  let corked = false
  const write = (frame: HubFrame) => {
    if (ws.bufferedAmount > MOST_BUFFERED) return ws.terminate()
    if (ws.readyState === ws.OPEN) ws.send(JSON.stringify(frame))
  }
  const stop = () => {
    cancel?.()
    cancel = undefined
    waiting = []
  }
  const flush = () => {
    const frames = waiting
    stop()
    for (const frame of frames) write(frame)
  }
  const flushTogether = () => {
    socket.cork()
    flush()
    socket.uncork()
  }
  const uncork = () => {
    corked = false
    flush()
    socket.uncork()
  }
  const send = (frame: HubFrame) => {
    if (isActivity(frame)) {
      waiting = joined(waiting, frame)
      if (!corked) cancel ??= systemClock.after(ACTIVITY_MS, flushTogether)
      return
    }
    if (!corked) {
      corked = true
      socket.cork()
      setImmediate(uncork)
    }
    flush()
    write(frame)
  }
  return Object.assign(send, { stop })
}

function isActivity(frame: HubFrame): frame is Activity {
  return frame.type === 'delta' || frame.type === 'agent' || frame.type === 'tool'
}

/** Returns `waiting` with the frame at its end; a further piece of the last text is appended to that text. */
function joined(waiting: Activity[], frame: Activity): Activity[] {
  const last = waiting.at(-1)
  if (frame.type !== 'delta' || last?.type !== 'delta' || last.cycle !== frame.cycle) {
    return [...waiting, frame]
  }
  return [...waiting.slice(0, -1), { ...last, text: last.text + frame.text }]
}
