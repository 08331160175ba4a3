import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

/** Events of one session, and characters of them, that are kept for a client that lost its connection. */
const MOST_EVENTS = 1_000
const MOST_CHARACTERS = 4 * 1024 * 1024
/** Characters that all sessions together keep, beside the newest event of each. */
const MOST_OF_ALL = 32 * 1024 * 1024

/** What the sessions of one endpoint keep together. */
export interface KeptTogether {
  characters: number
}

interface KeptEvent {
  id: string
  stream: string
  /** Position among the session's events, from 1. */
  number: number
  /** The message as JSON; `{}` for an event that only opened a stream. */
  text: string
}

/**
 * The latest events of a session's streams, so that a client resumes where its connection broke. A stream
 * stays known while events of it are kept or may come: a session's own stream can be resumed even after
 * others pushed all of its events out.
 */
export class SessionEvents implements EventStore {
  #events: KeptEvent[] = []
  /** Streams that did not end with an answer. */
  readonly #open = new Set<string>()
  #count = 0
  #characters = 0
  #together: KeptTogether

  constructor(together: KeptTogether = { characters: 0 }) {
    this.#together = together
  }

  /** Adds an event and returns its id. The newest stays however long it is: it may be the awaited answer. */
  add(stream: string, text: string, isLast = false): string {
    const number = ++this.#count
    const id = `${stream}~${number}`
    this.#events.push({ id, stream, number, text })
    this.#grow(text.length)
    while (this.#events.length > MOST_EVENTS || (this.#isTooMuch && this.#events.length > 1))
      this.#grow(-(this.#events.shift()?.text.length ?? 0))
    this.#open.delete(stream)
    if (!isLast) this.#open.add(stream)
    const [oldest] = this.#open
    if (this.#open.size > MOST_EVENTS && oldest !== undefined) this.#open.delete(oldest)
    return id
  }

  /** Returns what was sent on an event's stream after it. */
  after(lastEventId: string): KeptEvent[] {
    const last = readId(lastEventId)
    return this.#events.filter(
      ({ stream, number, text }) => stream === last.stream && number > last.number && text !== '{}',
    )
  }

  /** Forgets a stream: nobody may resume it. */
  drop(stream: string): void {
    this.#open.delete(stream)
    this.#events = this.#events.filter(event => event.stream !== stream)
    this.#grow(this.#events.reduce((sum, { text }) => sum + text.length, 0) - this.#characters)
  }

  /** Takes what it keeps out of what is kept together, also what is still to come. */
  leave(): void {
    this.#together.characters -= this.#characters
    this.#together = { characters: this.#characters }
  }

  get #isTooMuch(): boolean {
    return this.#characters > MOST_CHARACTERS || this.#together.characters > MOST_OF_ALL
  }

  #grow(characters: number): void {
    this.#characters += characters
    this.#together.characters += characters
  }

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    return this.add(stream, JSON.stringify(message), 'id' in message && !('method' in message))
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    const { stream, number } = readId(id)
    if (!(number > 0 && number <= this.#count)) return undefined
    return this.#open.has(stream) || this.#events.some(event => event.stream === stream) ? stream : undefined
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    for (const { id, text } of this.after(lastEventId)) await send(id, JSON.parse(text))
    return readId(lastEventId).stream
  }
}

/** Splits the id of an event; the stream of an id that the hub never gave is nonsense. */
export function readId(id: string): { stream: string; number: number } {
  const at = id.lastIndexOf('~')
  return { stream: id.slice(0, at), number: Number(id.slice(at + 1)) }
}
