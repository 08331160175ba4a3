const NEWLINE = 0x0a
const RETURN = 0x0d

/** Measures a stream of server-sent events without keeping any of it. */
export interface EventMeter {
  /** Returns how many events and how many lines this chunk completes. */
  add(chunk: Uint8Array): { messages: number; lines: number }
  /** Bytes of the unfinished event. */
  readonly pending: number
}

/** Creates a meter; an event ends with an empty line (WHATWG HTML, 9.2.5). */
export function createEventMeter(): EventMeter {
  let pending = 0
  /** True if the unfinished line is not empty. */
  let filled = false
  return {
    get pending() {
      return pending
    },
    add(chunk) {
      let messages = 0
      let lines = 0
      let start = 0
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        lines++
        filled ||= end > start + 1 || (end === start + 1 && chunk[start] !== RETURN)
        pending += end + 1 - start
        if (!filled) {
          if (pending > 2) messages++
          pending = 0
        }
        filled = false
        start = end + 1
      }
      filled ||= chunk.length > start + 1 || (chunk.length === start + 1 && chunk[start] !== RETURN)
      pending += chunk.length - start
      return { messages, lines }
    },
  }
}
