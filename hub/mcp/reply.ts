import type { ServerResponse } from 'node:http'
import { ANSWER_HEADERS } from '../core/answer-headers.ts'
import type { Clock } from '../core/clock.ts'
import type { SessionEvents } from './session-events.ts'

/** Milliseconds of silence after which a client may think that the hub is gone. */
const FIRST_KEEP_ALIVE_MS = 10_000
const NEXT_KEEP_ALIVE_MS = 15_000

const STREAM_HEADERS = {
  ...ANSWER_HEADERS,
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
}

export interface ReplyOptions {
  clock: Clock
  /** Keeps the events of a stream for a client that loses its connection and resumes. */
  kept?: {
    events: SessionEvents
    stream: string
    /** Whether the client knows events that only name a place to resume from, as from 2025-11-25 on. */
    primes: boolean
  }
  /** Called when the connection closed before all was sent. */
  onLost?: () => void
}

/**
 * The answer to one request over HTTP: JSON if nothing but the answer is sent, and a stream of events as soon
 * as something is sent before it, or it takes long.
 */
export class Reply {
  #response: ServerResponse
  readonly #options: ReplyOptions
  #isStream = false
  #isOver = false
  #cancelKeepAlive: (() => void) | undefined

  constructor(response: ServerResponse, options: ReplyOptions) {
    this.#response = response
    this.#options = options
  }

  /** Starts keep-alives for an answer that takes long. Called once, when the request is on its way. */
  start(): void {
    if (this.#isOver) return
    this.#keepAlive(FIRST_KEEP_ALIVE_MS)
    this.#watch(this.#response)
  }

  /** Sends a message before the answer. */
  send(message: object): void {
    if (this.#isOver) return
    const json = JSON.stringify(message)
    if (!this.#isStream) this.#startStream()
    this.#write(json)
  }

  /** Sends the answer; `status` counts only if nothing was sent before. Nothing can be sent after it. */
  end(message: object | undefined, status = 200): void {
    if (this.#isOver) return
    // A message that cannot be written throws here, and the answer that says so can still be sent.
    const json = message && JSON.stringify(message)
    this.#isOver = true
    this.#cancelKeepAlive?.()
    if (json !== undefined && !this.#isStream) {
      const length = Buffer.byteLength(json)
      const headers = { ...ANSWER_HEADERS, 'Content-Type': 'application/json', 'Content-Length': length }
      this.#response.writeHead(status, headers).end(json)
      return
    }
    if (!this.#isStream) this.#startStream()
    if (json !== undefined) this.#write(json, true)
    this.#response.end()
  }

  /** Resumes on another connection, with what was sent after this event. */
  resume(next: ServerResponse, lastEventId: string): void {
    // The old connection may look open for long after its client lost it.
    this.#response.end()
    this.#response = next
    next.writeHead(200, STREAM_HEADERS)
    // The client waits for the head of the answer, even if it missed nothing.
    next.flushHeaders()
    for (const { id, text } of this.#options.kept?.events.after(lastEventId) ?? [])
      next.write(toEvent(text, id))
    this.#keepAlive(NEXT_KEEP_ALIVE_MS)
    this.#watch(next)
  }

  #startStream(): void {
    this.#isStream = true
    this.#response.writeHead(200, STREAM_HEADERS)
    const { kept } = this.#options
    if (kept?.primes) this.#response.write(`id: ${kept.events.add(kept.stream, '{}')}\ndata: \n\n`)
  }

  #write(json: string, isLast = false): void {
    const { kept } = this.#options
    this.#response.write(toEvent(json, kept?.events.add(kept.stream, json, isLast)))
  }

  #keepAlive(delay: number): void {
    this.#cancelKeepAlive?.()
    this.#cancelKeepAlive = this.#options.clock.after(delay, () => {
      if (!this.#isStream) this.#startStream()
      this.#response.write(': still at work\n\n')
      this.#keepAlive(NEXT_KEEP_ALIVE_MS)
    })
  }

  #watch(watched: ServerResponse): void {
    watched.on('close', () => {
      if (watched === this.#response) this.#cancelKeepAlive?.()
      if (!watched.writableFinished) this.#options.onLost?.()
    })
  }
}

function toEvent(json: string, id: string | undefined): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${json}\n\n`
}
