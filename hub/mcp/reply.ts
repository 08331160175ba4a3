import type { ServerResponse } from 'node:http'
import { ANSWER_HEADERS } from '../core/answer-headers.ts'
import type { Clock } from '../core/clock.ts'
import type { Deadlines } from '../core/deadlines.ts'
import { createKeptEvents, type KeptEvent, type KeptEvents } from './kept-events.ts'

/** Milliseconds of silence after which a client may think that the hub is gone. */
export const FIRST_SIGN_MS = 10_000
const NEXT_SIGN_MS = 15_000
/** Events of one answer, and characters of them, that are kept for a client that lost its connection. */
const MOST_KEPT = { events: 1_000, characters: 4 * 1024 * 1024 }

/**
 * The answer to one request over HTTP: JSON if nothing but the answer is sent, and a stream of events as soon
 * as something is sent before it, or it takes long.
 */
export interface Reply {
  /** Starts keep-alives for an answer that takes long. Called once, when the request is on its way. */
  begin(): void
  /** Sends a message before the answer. */
  send(message: object): void
  /** Sends the answer; `status` counts only if nothing was sent before. Nothing can be sent after it. */
  end(message: object | undefined, status?: number): void
  /** Resumes on another connection, with what was sent after this event. */
  resume(response: ServerResponse, lastEventId: string): void
  /** Characters of its events that are kept. */
  readonly kept: number
}

export interface ReplyOptions {
  clock: Clock
  /** Deadlines of `FIRST_SIGN_MS`. */
  firstSigns: Deadlines
  /** Prefix of the ids of its events; without it the stream cannot be resumed. */
  stream?: string | undefined
  /** Whether its client knows events that only name a place to resume from, as from 2025-11-25 on. */
  primes?: boolean
  /** Called when the reply becomes a stream that can be resumed, or keeps one more event. */
  onStream?: (reply: Reply) => void
  /** Called when a connection closed before all was sent. */
  onLost?: () => void
}

const STREAM_HEADERS = {
  ...ANSWER_HEADERS,
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
}

export function createReply(response: ServerResponse, options: ReplyOptions): Reply {
  return new HttpReply(response, options)
}

class HttpReply implements Reply {
  #response: ServerResponse
  readonly #options: ReplyOptions
  #streams = false
  #isOver = false
  #count = 0
  #kept: KeptEvents<KeptEvent> | undefined
  #cancelSign: (() => void) | undefined

  constructor(response: ServerResponse, options: ReplyOptions) {
    this.#response = response
    this.#options = options
  }

  get kept(): number {
    return this.#kept?.characters ?? 0
  }

  begin(): void {
    if (this.#isOver) return
    this.#cancelSign = this.#options.firstSigns.set(() => this.#giveSign())
    this.#watch(this.#response)
  }

  send(message: object): void {
    if (this.#isOver) return
    const json = JSON.stringify(message)
    if (!this.#streams) this.#beginStream()
    this.#write(json)
  }

  end(message: object | undefined, status = 200): void {
    if (this.#isOver) return
    // A message that cannot be written throws here, and the answer that says so can still be sent.
    const json = message && JSON.stringify(message)
    this.#isOver = true
    if (json !== undefined && !this.#streams) this.#response.writeHead(status, toJsonHeaders(json)).end(json)
    else {
      if (!this.#streams) this.#beginStream()
      if (json !== undefined) this.#write(json)
      this.#response.end()
    }
    this.#cancelSign?.()
  }

  resume(next: ServerResponse, lastEventId: string): void {
    // The old connection may look open for long after its client lost it.
    this.#response.end()
    this.#response = next
    this.#beginStream()
    // The client waits for the head of the answer, even if it missed nothing.
    next.flushHeaders()
    const kept = this.#kept?.all ?? []
    const missed = kept.slice(kept.findIndex(({ id }) => id === lastEventId) + 1)
    for (const { text } of missed) next.write(text)
    if (this.#isOver) {
      next.end()
      return
    }
    this.#signAgain()
    this.#watch(next)
  }

  #beginStream(): void {
    const { stream, primes, onStream } = this.#options
    this.#response.writeHead(200, STREAM_HEADERS)
    if (this.#streams) return
    this.#streams = true
    if (stream === undefined) return
    onStream?.(this)
    if (primes) this.#response.write(`id: ${stream}~0\ndata: \n\n`)
  }

  #write(json: string): void {
    const { stream, onStream } = this.#options
    const data = `event: message\ndata: ${json}\n\n`
    if (stream === undefined) {
      this.#response.write(data)
      return
    }
    const id = `${stream}~${++this.#count}`
    const text = `id: ${id}\n${data}`
    this.#kept ??= createKeptEvents(MOST_KEPT)
    this.#kept.add({ id, text })
    onStream?.(this)
    this.#response.write(text)
  }

  #giveSign(): void {
    if (!this.#streams) this.#beginStream()
    this.#response.write(': still at work\n\n')
    this.#signAgain()
  }

  #signAgain(): void {
    this.#cancelSign?.()
    this.#cancelSign = this.#options.clock.after(NEXT_SIGN_MS, () => this.#giveSign())
  }

  #watch(watched: ServerResponse): void {
    watched.on('close', () => {
      if (watched === this.#response) this.#cancelSign?.()
      if (!watched.writableFinished) this.#options.onLost?.()
    })
  }
}

function toJsonHeaders(json: string) {
  return {
    ...ANSWER_HEADERS,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(json),
  }
}
