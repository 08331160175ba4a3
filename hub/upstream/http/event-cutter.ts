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
   * Returns the whole events that came so far if this part ends one. Throws if an event is over
   * LONGEST_MESSAGE, and as `HeldShare.add` does.
   */
  take(part: Uint8Array): Buffer | undefined {
    const { end, messages, lines } = this.#measure(part)
    this.#held.append(part.subarray(0, end))
    const whole = messages > 0 ? this.#held.take() : undefined
    this.#held.append(part.subarray(end))
    if (this.#pending > LONGEST_MESSAGE) throw tooLong()
    this.isFlood = this.#isFlood({ messages, lines, bytes: part.length })
    return whole
  }

  /** Returns the unfinished event at the end of the stream. */
  rest(): Buffer {
    return this.#held.take()
  }

  /** Counts the events and lines that a part ends (an event by an empty line); `end` is where the last ends. */
  #measure(part: Uint8Array): { messages: number; lines: number; end: number } {
    let lastEnd = 0
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
        lastEnd = end + 1
      }
      this.#isFilled = false
      start = end + 1
    }
    this.#isFilled ||= fills(part.length)
    this.#pending += part.length - start
    return { messages, lines, end: lastEnd }
  }
}

/** An event whose fields are undefined where the server left them out. */
interface ServerEvent {
  id?: string
  data?: string
  /** Milliseconds after which the server wants to be asked again. */
  retry?: number
}

/**
 * Parses whole server-sent events (WHATWG HTML, 9.2.6). An event may hold no more than an id, with which many
 * servers begin a stream; parsers for browsers drop such an event.
 */
export function parseEvents(whole: Buffer): ServerEvent[] {
  const events: ServerEvent[] = []
  let event: ServerEvent = {}
  for (const line of decode(whole).split(/\r?\n/)) {
    const [field, value = ''] = splitOnce(line)
    if (line === '') {
      if (Object.keys(event).length > 0) events.push(event)
      event = {}
    } else if (field === 'data') event.data = event.data === undefined ? value : `${event.data}\n${value}`
    else if (field === 'id') event.id = value
    else if (field === 'retry' && /^\d+$/.test(value)) event.retry = Number(value)
  }
  return events
}

/** Decodes UTF-8 without the byte order mark that some servers write first. */
export function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

/** Splits a line into field and value; a line without a colon is a field without a value. */
function splitOnce(line: string): [field: string, value?: string] {
  const colon = line.indexOf(':')
  return colon === -1 ? [line] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
}
