import type { Clock } from '../core/clock.ts'

/** The longest message that a server may send, bytes. */
export const LONGEST_MESSAGE = 10 * 1024 * 1024
/** All answers of one server that are not whole yet may take so many bytes together. */
export const MOST_HELD = 128 * 1024 * 1024
/** So much that a server did not read may wait for it, bytes. */
export const MOST_UNSENT = 32 * 1024 * 1024
/** So many requests to one server may be on their way. */
export const MOST_IN_FLIGHT = 500
/** Who floods us is read this much slower, milliseconds between two chunks: the pipe fills, and the flood waits. */
export const FLOOD_PAUSE_MS = 250

/** So many messages a second that nobody asked for are a flood, so many lines, and so many bytes. */
const MOST_UNASKED = { messages: 1_000, lines: 20_000, bytes: 16 * 1024 * 1024 }
const WINDOW_MS = 1_000

/** Counts what a server sends that nobody asked for; true while it is a flood. */
export type FloodMeter = (seen: Partial<typeof MOST_UNASKED>) => boolean

export function createFloodMeter(clock: Pick<Clock, 'monotonic'>): FloodMeter {
  let began = Number.NEGATIVE_INFINITY
  let counted = { messages: 0, lines: 0, bytes: 0 }
  return ({ messages = 0, lines = 0, bytes = 0 }) => {
    const now = clock.monotonic()
    if (now - began > WINDOW_MS) {
      began = now
      counted = { messages: 0, lines: 0, bytes: 0 }
    }
    counted.messages += messages
    counted.lines += lines
    counted.bytes += bytes
    return (
      counted.messages > MOST_UNASKED.messages ||
      counted.lines > MOST_UNASKED.lines ||
      counted.bytes > MOST_UNASKED.bytes
    )
  }
}

export function describeOverlong(): string {
  return `it sent a message over ${LONGEST_MESSAGE} bytes`
}

export function tooLong(): Error {
  return new Error(`The server failed: ${describeOverlong()}`)
}
