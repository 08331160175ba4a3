import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { JSONRPCMessage, JSONRPCRequest, SdkHttpError } from '@modelcontextprotocol/client'
import type { Clock } from '../../core/clock.ts'
import { createDeadlines, type Deadlines } from '../../core/deadlines.ts'
import { parseJson } from '../../core/json.ts'
import { createFloodMeter, FLOOD_PAUSE_MS, type FloodMeter, LONGEST_MESSAGE, tooLong } from '../bounds.ts'
import { toRefusal } from '../wire-errors.ts'
import { type AnswerReader, createAnswerReader, isAnswer } from './answer-reader.ts'
import { HeldBytes, HeldShare, type HeldTotal } from './held-bytes.ts'
import { createHttpConnections, type Exchange, type HttpConnections, type Sent } from './http-connections.ts'
import type { ResponseHead } from './http-response.ts'
import type { Resume } from './resume.ts'

/** The most redirects of one request. */
const MOST_MOVES = 5
/** Milliseconds that a stream may stay open after its answer. */
const LINGER_MS = 2_000

export interface HttpPostDeps {
  clock: Clock
  url: URL
  /** Returns all headers of a request except those of its body. */
  headers: (request: JSONRPCRequest) => Record<string, string>
  /** Asks for the rest of an answer whose stream broke. */
  resume: Resume
}

/** A request that was sent. */
export interface Posted {
  /**
   * Resolves when the stream, and what followed if it broke, ended. Rejects with `SdkHttpError` if the server
   * refuses (its data has `authenticate`, the header that says how to log in), and with the network's error.
   */
  readonly result: Promise<void>
  /** Stops reading: nobody waits for the rest of the stream. */
  cut(): void
}

export interface HttpPost extends Disposable {
  /** Sends a request and delivers what comes back on its own stream. */
  post(request: JSONRPCRequest, deliver: (message: JSONRPCMessage) => void): Posted
}

/**
 * Posts requests over kept connections, and reads their answers: JSON, or a stream of events. It does not
 * look at the contents of messages.
 */
export function createHttpPost(deps: HttpPostDeps): HttpPost {
  const lingers = createDeadlines(deps.clock, LINGER_MS)
  const held: HeldTotal = { bytes: 0 }
  const origins = new Map<string, HttpConnections>()
  const connectionsTo = (url: URL) => {
    const known = origins.get(url.origin) ?? createHttpConnections(url, deps.clock)
    origins.set(url.origin, known)
    return known
  }
  let place = placeOf(deps.url, connectionsTo)
  return {
    post(request, deliver) {
      const fields = toFields(deps.headers(request))
      const body = JSON.stringify(request)
      const end = `${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`
      const send = (exchange: Exchange) => place.connections.send(place.start + end, body, exchange)
      const move = (location: string | undefined) => {
        const next = moveTo(location, place.url)
        if (next) place = placeOf(next, connectionsTo)
        return next !== undefined
      }
      const { clock } = deps
      const resume = (lastEventId: string, retry: number | undefined, signal: AbortSignal) =>
        deps.resume(request, { url: place.url, lastEventId, retry }, deliver, signal)
      return new Post(request, { deliver, send, move, lingers, clock, resume, held })
    },
    [Symbol.dispose]() {
      lingers[Symbol.dispose]()
      for (const connections of origins.values()) connections[Symbol.dispose]()
    },
  }
}

interface Place {
  url: URL
  connections: HttpConnections
  /** The beginning of each request's head, which is the same for all. */
  start: string
}

function placeOf(url: URL, connectionsTo: (url: URL) => HttpConnections): Place {
  const start = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
  ]
  return { url, connections: connectionsTo(url), start: `${start.join('\r\n')}\r\n` }
}

/** Returns the headers as text. Throws for an invalid name or value. */
function toFields(headers: Record<string, string>): string {
  let fields = ''
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    fields += `${name}: ${value}\r\n`
  }
  return fields
}

/** Returns a redirect's target on the same server: the headers may be a secret between it and the hub. */
function moveTo(location: string | undefined, url: URL): URL | undefined {
  if (!location || !URL.canParse(location, url.href)) return undefined
  const next = new URL(location, url)
  const isSecured = url.protocol === 'http:' && next.protocol === 'https:' && next.host === url.host
  return next.origin === url.origin || (isSecured && url.port === '') ? next : undefined
}

interface PostDeps extends Pick<HttpPostDeps, 'clock'> {
  /** Asks for the rest of an answer whose stream broke. */
  resume(lastEventId: string, retry: number | undefined, signal: AbortSignal): Promise<void>
  deliver(message: JSONRPCMessage): void
  send(exchange: Exchange): Sent
  lingers: Deadlines
  held: HeldTotal
  /** Follows a redirect; returns false if the request may not be made there. */
  move(location: string | undefined): boolean
}

class Post implements Posted, Exchange {
  readonly result: Promise<void>
  readonly #request: JSONRPCRequest
  readonly #deps: PostDeps
  readonly #settled = Promise.withResolvers<void>()
  #sent: Sent
  #moved = 0
  #head: ResponseHead | undefined
  #events: AnswerReader | undefined
  /** Set for a stream of events, which is read slowly while it is a flood. */
  #isFlood: FloodMeter | undefined
  readonly #share: HeldShare
  readonly #text: HeldBytes
  #resuming: AbortController | undefined
  #cancelLinger: (() => void) | undefined

  constructor(request: JSONRPCRequest, deps: PostDeps) {
    this.#request = request
    this.#deps = deps
    this.#share = new HeldShare(deps.held)
    this.#text = new HeldBytes(this.#share)
    this.result = this.#settled.promise
    this.#sent = deps.send(this)
    const over = () => this.#share.end()
    this.result.then(over, over)
  }

  cut(): void {
    this.#sent.cut(this)
    this.#cancelLinger?.()
    this.#resuming?.abort()
    this.#settled.resolve()
  }

  onHead(head: ResponseHead): void {
    this.#head = head
    if (head.status >= 300 || head.type !== 'text/event-stream') return
    this.#events = createAnswerReader(this.#request, this.#deps.deliver, this.#share)
    this.#isFlood = createFloodMeter(this.#deps.clock)
  }

  onBody(part: Buffer): void {
    if (this.#events) this.#takeEvents(this.#events, part)
    else this.#collect(part)
  }

  onEnd(): void {
    if (this.#events) this.#endEvents(this.#events)
    else if (this.#moves()) this.#sendAgain()
    else this.#endText()
  }

  onError(error: Error): void {
    const events = this.#events
    if (events && !events.overlong && !this.#share.isRefused && events.lastEventId) this.#endEvents(events)
    else this.#settled.reject(error)
  }

  #takeEvents(events: AnswerReader, part: Buffer): void {
    const seen = events.take(part)
    if (events.answered) this.#cancelLinger ??= this.#deps.lingers.set(() => this.cut())
    if (!this.#isFlood?.({ ...seen, bytes: part.length })) return
    const sent = this.#sent
    sent.pause()
    this.#deps.clock.after(FLOOD_PAUSE_MS, () => sent.resume())
  }

  #collect(part: Buffer): void {
    if (this.#text.size + part.length > LONGEST_MESSAGE) throw tooLong()
    this.#text.append(part)
  }

  #moves(): boolean {
    const { status = 0, headers } = this.#head ?? {}
    if ((status !== 307 && status !== 308) || this.#moved >= MOST_MOVES) return false
    this.#moved++
    return this.#deps.move(headers?.get('location'))
  }

  #sendAgain(): void {
    this.#text.take()
    this.#sent = this.#deps.send(this)
  }

  #endText(): void {
    const text = this.#text.take().toString('utf8')
    const head = this.#head
    const message = head?.type === 'application/json' ? parseJson(text) : undefined
    if (isAnswer(message, this.#request)) {
      this.#deps.deliver(message)
      this.#settled.resolve()
    } else this.#settled.reject(refusalOf(head, text))
  }

  /** Resumes a stream that ended before the answer, or else resolves. */
  #endEvents({ answered, lastEventId, retry }: AnswerReader): void {
    this.#cancelLinger?.()
    if (answered || !lastEventId) {
      this.#settled.resolve()
      return
    }
    this.#resuming = new AbortController()
    const { signal } = this.#resuming
    this.#deps.resume(lastEventId, retry, signal).then(
      () => this.#settled.resolve(),
      error => (signal.aborted ? this.#settled.resolve() : this.#settled.reject(error)),
    )
  }
}

function refusalOf(head: ResponseHead | undefined, text: string): SdkHttpError {
  const { status = 0, statusText = '', headers } = head ?? {}
  return toRefusal({ status, statusText, text, authenticate: headers?.get('www-authenticate') })
}
