import {
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Clock } from '../core/clock.ts'
import { createDeadlines, type Deadlines } from '../core/deadlines.ts'
import { describeError } from '../core/errors.ts'
import { type Asker, type ForwardOptions, isObject, type JsonObject } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import { Register } from '../core/register.ts'
import { ASKED } from './asked.ts'
import { decideAsked, isUnsure } from './decide-asked.ts'
import type { HttpPost } from './http/http-post.ts'
import { tap } from './tapped.ts'
import { createTimeLimit, type TimeLimit } from './time-limit.ts'
import { lacks, toErrorObject, toOutcome, tookTooLong } from './wire-errors.ts'

export interface WireDeps {
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
  number: number
  /** The request's id on the server's side. */
  id: string
  options: ForwardOptions
  limit: TimeLimit | undefined
  /** Ends the HTTP request that carries it, if its answer comes on a stream of its own. */
  posted: AbortController | undefined
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
 * stay with the client. A wire is created before its transport is used.
 */
export class Wire {
  /** The wrapped transport that the SDK's client is given. */
  readonly transport: Transport
  readonly #transport: Transport
  readonly #deps: WireDeps
  readonly #pending = new Register<Pending>()
  /** The questions that are being answered, by the server's ids. */
  readonly #asked = new Map<string | number, Question>()
  /** The principals of cancelled requests that the server has not answered yet, by the request's id. */
  readonly #left = new Map<string, { party: string; cancel: () => void }>()
  readonly #deadlines: Deadlines
  #envelope: ((asker: Asker | undefined) => JsonObject) | undefined
  #http: HttpPost | undefined
  #isClosed = false

  constructor(transport: Transport, deps: WireDeps) {
    this.#transport = transport
    this.#deps = deps
    this.#deadlines = createDeadlines(deps.clock, deps.timeout)
    this.transport = tap(transport, message => this.#take(message))
  }

  /** Sets what the handshake found. `envelope` returns what the `_meta` of each request holds. */
  use(http: HttpPost | undefined, envelope: ((asker: Asker | undefined) => JsonObject) | undefined): void {
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
    const onAbort = () => this.#giveUp(pending, signal?.reason)
    const strays = this.#deps.strays()
    const pending: Pending = {
      number: 0,
      id: '',
      options,
      posted: undefined,
      limit: undefined,
      settle: (error, result) => {
        if (!this.#pending.delete(pending.number)) return
        pending.limit?.clear()
        for (const { of, ended } of this.#asked.values()) if (of === pending) ended.abort()
        signal?.removeEventListener('abort', onAbort)
        if (result) resolve(result)
        else reject(error)
      },
    }
    pending.number = this.#pending.add(pending)
    pending.id = `${PREFIX}${pending.number}`
    const message = this.#toMessage(pending.id, method, params, options)
    this.#send(message, pending).catch(error => pending.settle(error))
    if (!this.#pending.get(pending.number)) return promise
    // The request is sent first: the server works while the rest is set up.
    pending.limit = createTimeLimit(this.#deadlines, () =>
      this.#giveUp(pending, tookTooLong(method, this.#deps.timeout, this.#deps.strays() > strays)),
    )
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
    for (const pending of this.#pending.values()) {
      pending.settle(error)
      pending.posted?.abort()
    }
    for (const { ended } of this.#asked.values()) ended.abort(error)
    for (const id of [...this.#left.keys()]) this.#forget(id)
    this.#deadlines[Symbol.dispose]()
  }

  #toMessage(id: string, method: string, params: JsonObject, options: ForwardOptions): JSONRPCRequest {
    const meta = {
      ...options.meta,
      ...this.#envelope?.(options.asker),
      ...(options.onProgress ? { progressToken: id } : {}),
    }
    const named = Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params
    return { jsonrpc: '2.0', id, method, params: named }
  }

  async #send(message: JSONRPCRequest, pending: Pending): Promise<void> {
    if (!this.#http) return this.#transport.send(message)
    const { id } = pending
    pending.posted = new AbortController()
    const deliver = (received: JSONRPCMessage) => {
      if (!this.#take(received, id)) this.transport.onmessage?.(received)
    }
    await this.#http(message, deliver, pending.posted.signal)
    if (this.#pending.get(pending.number))
      pending.settle(new SdkError(SdkErrorCode.ConnectionClosed, 'The stream ended without an answer'))
  }

  #pendingOf(id: unknown): Pending | undefined {
    if (typeof id !== 'string' || !id.startsWith(PREFIX)) return undefined
    return this.#pending.get(Number(id.slice(PREFIX.length)))
  }

  /** Settles a request with `reason`, and tells the server that nobody waits any more. */
  #giveUp(pending: Pending, reason: unknown): void {
    if (!this.#pending.get(pending.number)) return
    pending.settle(reason)
    pending.posted?.abort()
    // A server whose question was refused asks no more.
    if (!(reason instanceof ProtocolError)) this.#remember(pending)
    this.notify('notifications/cancelled', { requestId: pending.id, reason: describeError(reason) }).catch(
      error => this.#deps.log.debug('cancel_not_sent', { error }),
    )
  }

  /** Notes a cancelled request: over stdio its server may still ask, and nobody else shall be asked then. */
  #remember(pending: Pending): void {
    const { id, options } = pending
    if (this.#http || !options.asker) return
    const unsure = isUnsure(pending, this.#deps.isOwn)
    if (unsure && this.#waiting().includes(pending)) return
    const party = unsure ? `${options.asker.key} ${id}` : options.asker.key
    const cancel = this.#deps.clock.after(LATE_MS, () => this.#left.delete(id))
    this.#left.set(id, { party, cancel })
  }

  #forget(id: string): void {
    this.#left.get(id)?.cancel()
    this.#left.delete(id)
  }

  /** Returns true for a message of a forwarded request. `related` is the request on whose stream it came. */
  #take(message: JSONRPCMessage, related?: string): boolean {
    if ('method' in message) {
      return 'id' in message ? this.#takeQuestion(message, related) : this.#takeNotice(message, related)
    }
    const pending = this.#pendingOf(message.id)
    if (!pending) {
      this.#forget(String(message.id))
      // A late answer to a cancelled request is for nobody.
      return typeof message.id === 'string' && message.id.startsWith(PREFIX)
    }
    pending.settle(...toOutcome(message))
    return true
  }

  #takeNotice({ method, params: given }: JSONRPCNotification, related?: string): boolean {
    const params = isObject(given) ? given : {}
    if (method === 'notifications/progress') {
      const { progressToken, ...progress } = params
      const pending = this.#pendingOf(progressToken)
      if (!pending) return false
      pending.limit?.touch()
      if (typeof progress['progress'] === 'number') {
        pending.options.onProgress?.({ ...progress, progress: progress['progress'] })
      }
      return true
    }
    if (method === 'notifications/message') {
      this.#takeLog(params, related)
      return true
    }
    if (method === 'notifications/elicitation/complete') {
      this.#deps.onNotice(method, params)
      return true
    }
    if (method === 'notifications/cancelled') {
      const asked = this.#asked.get(params['requestId'] as string | number)
      asked?.ended.abort(new Error('The server no longer asks'))
      return asked !== undefined
    }
    return false
  }

  /**
   * Passes a log message to the request on whose stream it came only or, where the transport cannot tell, to
   * all requests that want log messages.
   */
  #takeLog(params: JsonObject, related: string | undefined): void {
    const about = this.#pending.values().filter(({ id }) => related === undefined || id === related)
    const wanting = about.flatMap(({ options: { asker } }) => (asker?.logLevel === undefined ? [] : [asker]))
    for (const asker of wanting) asker.log?.(params)
    // A message on a stream is its caller's alone, even if unwanted; the hub's own requests have no caller.
    const isForAll = related === undefined ? wanting.length === 0 : about[0] && !about[0].options.asker
    if (isForAll) this.#deps.onNotice('notifications/message', params)
  }

  #takeQuestion(request: JSONRPCRequest, related: string | undefined): boolean {
    const capability = ASKED.get(request.method)
    if (capability === undefined) return false
    void this.#answer(request, capability, related)
      .then(reply => reply && this.#transport.send(reply))
      .catch(error => this.#deps.log.debug('answer_not_sent', { error }))
    return true
  }

  /** Answers a server's question; undefined if nobody waits for the answer any more. */
  async #answer(
    { id, method, params = {} }: JSONRPCRequest,
    capability: string,
    related: string | undefined,
  ): Promise<JSONRPCMessage | undefined> {
    const ended = new AbortController()
    let release: (() => void) | undefined
    try {
      const pending = this.#whoIsAsked(method, related)
      this.#asked.set(id, { ended, of: pending })
      const asker = pending?.options.asker
      if (!asker || asker.capabilities[capability] === undefined) {
        if (method === 'roots/list') return { jsonrpc: '2.0', id, result: { roots: [] } }
        const missing = lacks(capability)
        // The protocol wants such a client to be told what it would have to declare.
        if (asker?.repeats && pending) this.#giveUp(pending, missing)
        throw missing
      }
      release = pending.limit?.hold()
      const result = await asker.ask(method, params, ended.signal)
      return ended.signal.aborted ? undefined : { jsonrpc: '2.0', id, result }
    } catch (error) {
      return ended.signal.aborted ? undefined : { jsonrpc: '2.0', id, error: toErrorObject(error) }
    } finally {
      release?.()
      this.#asked.delete(id)
    }
  }

  /** Returns the request on whose stream the question came; standard output does not tell. */
  #whoIsAsked(method: string, related: string | undefined): Pending | undefined {
    if (related !== undefined) return this.#pendingOf(related)
    return decideAsked(method, {
      inFlight: this.#pending.values().filter(({ options }) => options.asker),
      waiting: this.#waiting(),
      left: [...this.#left.values()].map(({ party }) => party),
      isOwn: this.#deps.isOwn,
    })
  }

  /** Returns the requests that wait for an answer to a question, the one asked last at the end. */
  #waiting(): Pending[] {
    return [...this.#asked.values()].flatMap(({ of }) => of ?? [])
  }
}

function connectionClosed(why?: string): SdkError {
  const text =
    why === undefined ? 'Connection closed' : `The connection closed before the answer came: ${why}`
  return new SdkError(SdkErrorCode.ConnectionClosed, text)
}
