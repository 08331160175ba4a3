import type { Clock } from '../../core/clock.ts'
import { createFloodMeter, LONGEST_MESSAGE, tooLong } from '../bounds.ts'
import { HeldBytes, type HeldShare } from './held-bytes.ts'

const NEWLINE = 0x0a
const RETURN = 0x0d

/**
 * Cuts a stream of server-sent events into parts that end with a whole event, because a reader that gets an
 * event in small parts keeps each part.
 */
export class EventCutter {
  readonly #held: HeldBytes
  readonly #isFlood: ReturnType<typeof createFloodMeter>
  /** Bytes of the unfinished event. */
  #pending = 0
  /** True if the unfinished line is not empty. */
  #isFilled = false
  /** True if the stream brought so much within a second that it has to be read slowly. */
  isFlood = false

  constructor(clock: Clock, share?: HeldShare) {
    this.#held = new HeldBytes(share)
    this.#isFlood = createFloodMeter(clock)
  }

  /**
   * Returns what came so far if this part ends an event. Throws if an event is over LONGEST_MESSAGE, and as
   * `HeldShare.add` does.
   */
  take(part: Uint8Array): Buffer | undefined {
    const seen = this.#measure(part)
    this.#held.append(part)
    if (this.#pending > LONGEST_MESSAGE) throw tooLong()
    this.isFlood = this.#isFlood({ ...seen, bytes: part.length })
    return seen.messages > 0 ? this.#held.take() : undefined
  }

  /** Returns the unfinished event at the end of the stream. */
  rest(): Buffer {
    return this.#held.take()
  }

  /** Counts the events and lines that a part ends; an event ends with an empty line (WHATWG HTML, 9.2.5). */
  #measure(part: Uint8Array): { messages: number; lines: number } {
    let messages = 0
    let lines = 0
    let start = 0
    const fills = (end: number) => end > start + 1 || (end === start + 1 && part[start] !== RETURN)
    for (let end = part.indexOf(NEWLINE); end !== -1; end = part.indexOf(NEWLINE, start)) {
      lines++
      this.#isFilled ||= fills(end)
      this.#pending += end + 1 - start
      if (!this.#isFilled) {
        if (this.#pending > 2) messages++
        this.#pending = 0
      }
      this.#isFilled = false
      start = end + 1
    }
    this.#isFilled ||= fills(part.length)
    this.#pending += part.length - start
    return { messages, lines }
  }
}
