import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server'
import { ANSWER_HEADERS, secure } from '../core/answer-headers.ts'
import { isObject } from '../core/forwarding.ts'
import type { Principal } from '../core/principal.ts'
import { answerCall } from './call-tool.ts'
import { Reply } from './reply.ts'
import type { Admitted, McpView, RawRequest } from './requests.ts'
import { McpServer, type McpServerDeps } from './server.ts'
import { type KeptTogether, readId, SessionEvents } from './session-events.ts'
import type { Subscriptions } from './subscriptions.ts'

export interface SessionDeps extends McpServerDeps {
  /** The events that all sessions keep. */
  keptTogether: KeptTogether
  subscriptions: Subscriptions
}

/** A call in flight that the hub answers without the SDK's server. */
interface RawCall {
  stream: string
  reply: Reply
  ended: AbortController
}

/** Milliseconds for which a cancellation waits for its call, and the most that wait. */
const EARLY_MS = 3_000
const MOST_EARLY = 1_000

/**
 * The session of a client from before 2026-07-28. The SDK's transport and server serve it, but for the calls
 * of tools, which it answers itself on streams of their own.
 */
export class Session extends NodeStreamableHTTPServerTransport {
  readonly mcp: McpServer
  readonly view: McpView
  /** Resources that the client subscribed to, each with the function that unsubscribes. */
  readonly subscribed = new Map<string, () => void>()
  /** Monotonic time of its last request's end, and the number of open ones. */
  usedAt: number
  open = 0
  readonly #deps: SessionDeps
  readonly principal: Principal
  readonly #events: SessionEvents
  readonly #calls = new Map<RequestId, RawCall>()
  /** Cancellations that came before their calls, as they may over other connections, with their times. */
  readonly #early = new Map<unknown, { reason: Error; at: number }>()
  /** Prefix of the ids of the hub's requests. */
  readonly #asking: string
  #made = 0

  constructor(
    deps: SessionDeps,
    { principal, view }: Pick<Admitted, 'principal' | 'view'>,
    { onReady, onEnd }: { onReady: (id: string, session: Session) => void; onEnd: (id: string) => void },
  ) {
    const id = randomUUID()
    const events = new SessionEvents(deps.keptTogether)
    super({
      sessionIdGenerator: () => id,
      onsessioninitialized: () => onReady(id, this),
      onsessionclosed: onEnd,
      eventStore: events,
    })
    this.#deps = deps
    this.principal = principal
    this.#events = events
    this.#asking = `${id}~`
    this.view = view
    this.usedAt = deps.clock.monotonic()
    this.mcp = new McpServer(deps, {
      principal,
      key: `session:${id}`,
      view,
      onSubscribe: (uri, isWanted) => this.#subscribe(uri, isWanted),
    })
  }

  async serve(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    if (this.#cancel(body)) response.writeHead(202, ANSWER_HEADERS).end()
    else if (!this.#resume(request, response)) {
      secure(response)
      await this.handleRequest(request, response, this.#toAnswer(body))
    }
  }

  /** Forwards a call of a tool as it came, and the result as it came back. */
  async answer(raw: RawRequest, response: ServerResponse): Promise<void> {
    const { id } = raw
    const stream = `call-${++this.#made}`
    const reply = new Reply(response, {
      clock: this.#deps.clock,
      kept: { events: this.#events, stream, primes: raw.primes },
    })
    const ended = new AbortController()
    const call = { stream, reply, ended }
    this.#calls.set(id, call)
    const early = this.#early.get(id)
    this.#early.delete(id)
    if (early && this.#deps.clock.monotonic() - early.at < EARLY_MS) ended.abort(early.reason)
    const { mcp, view } = this
    const who = {
      key: mcp.key,
      principal: this.principal,
      view,
      client: mcp.client,
      session: mcp.toLegacyCaller(id),
      signal: ended.signal,
    }
    await answerCall(this.#deps, who, raw, reply)
    if (this.#calls.get(id) === call) this.#calls.delete(id)
    // A cancelled call has no answer, and its client would come back for it again and again.
    if (ended.signal.aborted) this.#events.drop(stream)
  }

  /** Ends everything that the session has in flight, and the session. */
  async end(): Promise<void> {
    for (const { ended } of this.#calls.values()) ended.abort(new Error('The session ended'))
    for (const unsubscribe of this.subscribed.values()) unsubscribe()
    this.#deps.servers.endSession(this.mcp.key)
    this.#events.leave()
    await this.mcp.server.close()
  }

  /** Sends a message of the SDK's server: a request for a call that the hub answers itself on its stream. */
  override async send(
    message: JSONRPCMessage,
    options?: Parameters<NodeStreamableHTTPServerTransport['send']>[1],
  ): Promise<void> {
    const call =
      options?.relatedRequestId === undefined ? undefined : this.#calls.get(options.relatedRequestId)
    const asked = this.#toQuestion(message)
    if (call) call.reply.send(asked)
    else await super.send(asked, options)
  }

  /**
   * Gives a request of the hub an id unlike any of an earlier session: the client behind a bridge does not
   * notice a new session, and may still answer what the last one asked.
   */
  #toQuestion(message: JSONRPCMessage): JSONRPCMessage {
    if (!('method' in message)) return message
    if ('id' in message) return { ...message, id: `${this.#asking}${message.id}` }
    if (message.method !== 'notifications/cancelled') return message
    const requestId = `${this.#asking}${message.params?.['requestId']}`
    return { ...message, params: { ...message.params, requestId } }
  }

  /** Gives the answer to a request of the hub the id by which the SDK's server knows it. */
  #toAnswer(body: unknown): unknown {
    if (Array.isArray(body)) return body.map(message => this.#toAnswer(message))
    if (!isObject(body) || 'method' in body || typeof body['id'] !== 'string') return body
    const { id } = body
    return id.startsWith(this.#asking) ? { ...body, id: Number(id.slice(this.#asking.length)) } : body
  }

  #cancel(body: unknown): boolean {
    if (!isObject(body) || body['method'] !== 'notifications/cancelled' || !isObject(body['params']))
      return false
    const { requestId, reason } = body['params']
    const call = this.#calls.get(requestId as RequestId)
    const why = new Error(typeof reason === 'string' ? reason : 'The client cancelled it')
    call?.ended.abort(why)
    if (!call) {
      const [oldest] = this.#early.keys()
      if (this.#early.size >= MOST_EARLY) this.#early.delete(oldest)
      this.#early.set(requestId, { reason: why, at: this.#deps.clock.monotonic() })
    }
    return call !== undefined
  }

  /** Resumes the answer of a call in flight; false for a stream that the SDK's transport resumes. */
  #resume({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
    const lastEventId = headers['last-event-id']
    if (method !== 'GET' || typeof lastEventId !== 'string') return false
    const { stream } = readId(lastEventId)
    const call = [...this.#calls.values()].find(each => each.stream === stream)
    call?.reply.resume(response, lastEventId)
    return call !== undefined
  }

  #subscribe(uri: string, isWanted: boolean): void {
    if (isWanted === this.subscribed.has(uri)) return
    if (isWanted) this.subscribed.set(uri, this.#deps.subscriptions.add([uri]))
    else {
      this.subscribed.get(uri)?.()
      this.subscribed.delete(uri)
    }
  }
}
