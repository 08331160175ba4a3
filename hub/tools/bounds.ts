import type { Clock } from '../core/clock.ts'

/** The longest message that a server may send, bytes. */
export const LONGEST_MESSAGE = 10 * 1024 * 1024
/** Who floods us is read this much slower, milliseconds between two chunks: the pipe fills, and the flood waits. */
export const FLOOD_PAUSE_MS = 250

/** So many messages a second that nobody asked for are a flood. */
const MOST_UNASKED = 1_000
const WINDOW_MS = 1_000

/** Counts messages of a server that nobody asked for; true while they are a flood. */
export type FloodMeter = (count: number) => boolean

export function createFloodMeter(clock: Pick<Clock, 'monotonic'>): FloodMeter {
  let began = Number.NEGATIVE_INFINITY
  let counted = 0
  return count => {
    const now = clock.monotonic()
    if (now - began > WINDOW_MS) {
      began = now
      counted = 0
    }
    counted += count
    return counted > MOST_UNASKED
  }
}

export function describeOverlong(): string {
  return `it sent a message over ${LONGEST_MESSAGE} bytes`
}

export function tooLong(): Error {
  return new Error(`The server failed: ${describeOverlong()}`)
}
