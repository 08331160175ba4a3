import {
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  ProtocolError,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Clock } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { type ForwardOptions, isObject, type JsonObject, type Requester } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import type { HttpPost } from './http/http-post.ts'
import { askRequester, decideAsked, isAmbiguous, isDeclared, QUESTIONS } from './questions.ts'
import { connectionClosed, toErrorObject, toOutcome, tookTooLong } from './request-errors.ts'
import { wrapTransport } from './wrap-transport.ts'

export interface RawRequestDeps {
  clock: Clock
  log: Log
  /** Milliseconds that a request may take without a result, progress, or a question to its caller. */
  timeout: number
  /** Returns how often the server wrote something that is no message. */
  strays: () => number
  /** True if the server serves one session only, whose requests are all of one principal. */
  isOwn: boolean
  /** Called with a log message, or the end of an elicitation by URL, that belongs to no request. */
  onNotice: (method: string, params: JsonObject) => void
}

interface Pending {
  /** The request's id on the server's side. */
  id: string
  options: ForwardOptions
  /** Ends the HTTP request that carries it, if its answer comes on a stream of its own. */
  posted: AbortController | undefined
  /** The number of its questions that are being answered; its time limit is paused meanwhile. */
  questions: number
  /** Begins the time limit anew, unless it is paused. */
  restartLimit(): void
  cancelLimit(): void
  settle(error: unknown, result?: JsonObject): void
}

/** A server's question that is being answered. */
interface Question {
  ended: AbortController
  of: Pending | undefined
}

/** The prefix of the ids of forwarded requests, because the SDK's client gives the same numbers. */
const PREFIX = 'hub-'
/** Milliseconds for which a server may still ask questions about a cancelled request. */
const LATE_MS = 5_000

/**
 * Forwards requests over the transport that the SDK's client uses too: their messages are neither checked nor
 * changed, and the server's questions meanwhile go to the caller. Handshakes, list changes and subscriptions
 * stay with the client. It is created before its transport is used.
 */
export class RawRequests {
  /** The wrapped transport that the SDK's client is given. */
  readonly transport: Transport
  readonly #transport: Transport
  readonly #deps: RawRequestDeps
  readonly #pending = new Map<unknown, Pending>()
  /** The questions that are being answered, by the server's ids. */
  readonly #questions = new Map<unknown, Question>()
  /** The principals of cancelled requests that the server has not answered yet, by the request's id. */
  readonly #cancelled = new Map<unknown, { principal: string; forget: () => void }>()
  #lastNumber = 0
  #envelope: ((requester: Requester | undefined) => JsonObject) | undefined
  #http: HttpPost | undefined
  #isClosed = false

  constructor(transport: Transport, deps: RawRequestDeps) {
    this.#transport = transport
    this.#deps = deps
    this.transport = wrapTransport(transport, message => this.#take(message))
  }

  /** Sets what the handshake found. `envelope` returns what the `_meta` of each request holds. */
  use(
    http: HttpPost | undefined,
    envelope: ((requester: Requester | undefined) => JsonObject) | undefined,
  ): void {
    this.#http = http
    this.#envelope = envelope
  }

  /** Throws the server's error, `SdkError` if the connection is gone or silent, or the signal's reason. */
  request(method: string, params: JsonObject, options: ForwardOptions = {}): Promise<JsonObject> {
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    const { signal } = options
    if (signal?.aborted) return Promise.reject(signal.reason)
    // The connection may have been replaced while the call waited for its client's answer.
    if (this.#isClosed) return Promise.reject(connectionClosed())
    const { clock, timeout, strays } = this.#deps
    const before = strays()
    const onAbort = () => this.#cancel(pending, signal?.reason)
    const onTimeout = () => this.#cancel(pending, tookTooLong(method, timeout, strays() > before))
    const pending: Pending = {
      id: `${PREFIX}${++this.#lastNumber}`,
      options,
      posted: undefined,
      questions: 0,
      restartLimit: () => {
        pending.cancelLimit()
        if (pending.questions === 0 && this.#pending.has(pending.id))
          pending.cancelLimit = clock.after(timeout, onTimeout)
      },
      cancelLimit: () => undefined,
      settle: (error, result) => {
        if (!this.#pending.delete(pending.id)) return
        pending.cancelLimit()
        for (const { of, ended } of this.#questions.values()) if (of === pending) ended.abort()
        signal?.removeEventListener('abort', onAbort)
        if (result) resolve(result)
        else reject(error)
      },
    }
    this.#pending.set(pending.id, pending)
    this.#send(this.#toMessage(pending.id, method, params, options), pending).catch(pending.settle)
    if (!this.#pending.has(pending.id)) return promise
    // The request is sent first: the server works while the rest is set up.
    pending.restartLimit()
    signal?.addEventListener('abort', onAbort, { once: true })
    return promise
  }

  notify(method: string, params: JsonObject = {}): Promise<void> {
    return this.#transport.send({ jsonrpc: '2.0', method, params })
  }

  /** Fails every request, because the connection is gone; `why` is what the callers are told. */
  close(why?: string): void {
    this.#isClosed = true
    const error = connectionClosed(why)
    for (const pending of [...this.#pending.values()]) {
      pending.settle(error)
      pending.posted?.abort()
    }
    for (const { ended } of this.#questions.values()) ended.abort(error)
    for (const { forget } of [...this.#cancelled.values()]) forget()
  }

  #toMessage(id: string, method: string, params: JsonObject, options: ForwardOptions): JSONRPCRequest {
    const meta = {
      ...options.meta,
      ...this.#envelope?.(options.requester),
      ...(options.onProgress ? { progressToken: id } : {}),
    }
    const named = Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params
    return { jsonrpc: '2.0', id, method, params: named }
  }

  async #send(message: JSONRPCRequest, pending: Pending): Promise<void> {
    if (!this.#http) return this.#transport.send(message)
    pending.posted = new AbortController()
    const deliver = (received: JSONRPCMessage) => {
      if (!this.#take(received, pending.id)) this.transport.onmessage?.(received)
    }
    await this.#http(message, deliver, pending.posted.signal)
    pending.settle(connectionClosed('its stream ended without it'))
  }

  /** Settles a request with `reason`, and tells the server that nobody waits any more. */
  #cancel(pending: Pending, reason: unknown): void {
    if (!this.#pending.has(pending.id)) return
    pending.settle(reason)
    pending.posted?.abort()
    // A server whose question was refused asks no more.
    if (!(reason instanceof ProtocolError)) this.#rememberCancelled(pending)
    this.notify('notifications/cancelled', { requestId: pending.id, reason: describeError(reason) }).catch(
      error => this.#deps.log.debug('cancel_not_sent', { error }),
    )
  }

  /** Notes a cancelled request: over stdio its server may still ask, and nobody else shall be asked then. */
  #rememberCancelled(pending: Pending): void {
    const { id, options } = pending
    if (this.#http || !options.requester) return
    const ambiguous = isAmbiguous(pending, this.#deps.isOwn)
    if (ambiguous && this.#waiting().includes(pending)) return
    const cancelTimer = this.#deps.clock.after(LATE_MS, () => this.#cancelled.delete(id))
    this.#cancelled.set(id, {
      principal: ambiguous ? `${options.requester.key} ${id}` : options.requester.key,
      forget: () => {
        cancelTimer()
        this.#cancelled.delete(id)
      },
    })
  }

  /** Returns true for a message of a forwarded request. `related` is the request on whose stream it came. */
  #take(message: JSONRPCMessage, related?: string): boolean {
    if ('method' in message) {
      return 'id' in message ? this.#takeQuestion(message, related) : this.#takeNotice(message, related)
    }
    const pending = this.#pending.get(message.id)
    pending?.settle(...toOutcome(message))
    this.#cancelled.get(message.id)?.forget()
    // A late answer to a cancelled request is for nobody.
    return typeof message.id === 'string' && message.id.startsWith(PREFIX)
  }

  #takeNotice({ method, params: given }: JSONRPCNotification, related?: string): boolean {
    const params = isObject(given) ? given : {}
    switch (method) {
      case 'notifications/progress': {
        const { progressToken, ...progress } = params
        const pending = this.#pending.get(progressToken)
        pending?.restartLimit()
        if (typeof progress['progress'] === 'number')
          pending?.options.onProgress?.({ ...progress, progress: progress['progress'] })
        return pending !== undefined
      }
      case 'notifications/message':
        this.#takeLog(params, related)
        return true
      case 'notifications/elicitation/complete':
        this.#deps.onNotice(method, params)
        return true
      case 'notifications/cancelled': {
        const question = this.#questions.get(params['requestId'])
        question?.ended.abort(new Error('The server no longer asks'))
        return question !== undefined
      }
      default:
        return false
    }
  }

  /**
   * Passes a log message to the request on whose stream it came only or, where the transport cannot tell, to
   * all requests that want log messages.
   */
  #takeLog(params: JsonObject, related: string | undefined): void {
    const about = [...this.#pending.values()].filter(({ id }) => related === undefined || id === related)
    const wanting = about.flatMap(({ options: { requester } }) =>
      requester?.logLevel === undefined ? [] : [requester],
    )
    for (const requester of wanting) requester.log?.(params)
    // A message on a stream is its caller's alone, even if unwanted; the hub's own requests have no caller.
    const isForAll = related === undefined ? wanting.length === 0 : about[0] && !about[0].options.requester
    if (isForAll) this.#deps.onNotice('notifications/message', params)
  }

  #takeQuestion(request: JSONRPCRequest, related: string | undefined): boolean {
    if (!QUESTIONS.has(request.method)) return false
    void this.#answer(request, related)
      .then(reply => reply && this.#transport.send(reply))
      .catch(error => this.#deps.log.debug('answer_not_sent', { error }))
    return true
  }

  /** Answers a server's question; undefined if nobody waits for the answer any more. */
  async #answer(
    { id, method, params = {} }: JSONRPCRequest,
    related: string | undefined,
  ): Promise<JSONRPCMessage | undefined> {
    const ended = new AbortController()
    let pending: Pending | undefined
    try {
      pending = this.#whoIsAsked(method, related)
      this.#questions.set(id, { ended, of: pending })
      if (pending) {
        pending.questions++
        pending.cancelLimit()
      }
      const result = await askRequester(pending?.options.requester, method, params, ended.signal)
      return ended.signal.aborted ? undefined : { jsonrpc: '2.0', id, result }
    } catch (error) {
      // The protocol wants a client that repeats its requests to be told what it would have to declare.
      const { requester } = pending?.options ?? {}
      if (pending && requester?.repeats && !isDeclared(requester, method)) this.#cancel(pending, error)
      if (ended.signal.aborted) return undefined
      return { jsonrpc: '2.0', id, error: toErrorObject(error) }
    } finally {
      this.#questions.delete(id)
      if (pending) {
        pending.questions--
        pending.restartLimit()
      }
    }
  }

  /** Returns the request on whose stream the question came; standard output does not tell. */
  #whoIsAsked(method: string, related: string | undefined): Pending | undefined {
    if (related !== undefined) return this.#pending.get(related)
    return decideAsked(method, {
      inFlight: [...this.#pending.values()].filter(({ options }) => options.requester),
      waiting: this.#waiting(),
      cancelled: [...this.#cancelled.values()].map(({ principal }) => principal),
      isOwn: this.#deps.isOwn,
    })
  }

  /** Returns the requests that wait for an answer to a question, the one asked last at the end. */
  #waiting(): Pending[] {
    return [...this.#questions.values()].flatMap(({ of }) => of ?? [])
  }
}
