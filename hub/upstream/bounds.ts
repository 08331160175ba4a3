import type { Clock } from '../core/clock.ts'

/** The longest message that a server may send, bytes. */
export const LONGEST_MESSAGE = 10 * 1024 * 1024
/** The most bytes that all unfinished answers of one server may take together. */
export const MOST_HELD = 128 * 1024 * 1024
/** The most bytes that may wait for a server to read them. */
export const MOST_UNSENT = 32 * 1024 * 1024
/** The most requests to one server that may be in flight. */
export const MOST_IN_FLIGHT = 500
/** Milliseconds between two chunks read from a flooding server: its pipe fills, and the flood waits. */
export const FLOOD_PAUSE_MS = 250

/** The most unrequested messages, lines and bytes within a second; more of any is a flood. */
const MOST_UNASKED = { messages: 1_000, lines: 20_000, bytes: 16 * 1024 * 1024 }
const WINDOW_MS = 1_000

/** Counts what a server sends unasked; returns true while it is a flood. */
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
