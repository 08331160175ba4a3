import {
  isInitializedNotification,
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  SdkHttpError,
  type Transport,
} from '@modelcontextprotocol/client'
import { type Clock, sleep } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { type Hub, type HubAddress, type HubSessionEvents, openHubSession } from './hub-session.ts'
import { ProgressFlush } from './progress-flush.ts'
import { createRevival } from './revival.ts'
import { SessionMemory } from './session-memory.ts'

export interface BridgeDeps {
  clock: Clock
  client: Transport
  /** Returns the hub's address. Throws if no hub runs. */
  findHub: () => HubAddress
  /** File of the token, which is named where the hub refuses it. */
  tokenFile: string
  log: (line: string) => void
}

const INTERNAL_ERROR = -32_603
/** Milliseconds that the hub may take to hear that the client left. */
const GOODBYE_MS = 1_000

interface Running {
  request: JSONRPCRequest
  abort: AbortController
}

/**
 * Carries MCP messages of either era between a client on stdio and a hub's HTTP endpoint, as they are. After
 * a restart of the hub it opens a legacy client's session anew, with its subscriptions and log level, and
 * tells the client what may have changed. Ends when the client does.
 */
export class StdioBridge {
  readonly #deps: BridgeDeps
  readonly #running = new Map<JSONRPCRequest['id'], Running>()
  readonly #ended = Promise.withResolvers<void>()
  /** Every hub connection so far: a stream of an earlier one may still be open. */
  readonly #hubs = new Set<Hub>()
  #hub: Promise<Hub> | undefined
  /** Connections that were opened in place of the client's first one. */
  readonly #reopened = new WeakSet<Hub>()
  readonly #memory = new SessionMemory()
  readonly #revival: ReturnType<typeof createRevival>
  readonly #progressFlush: ProgressFlush
  /** Settles once `initialize` is answered; undefined before a client sent it. */
  #initialized: PromiseWithResolvers<void> | undefined
  #sending: Promise<void> = Promise.resolve()
  readonly #leaving = new AbortController()

  constructor(deps: BridgeDeps) {
    this.#deps = deps
    this.#progressFlush = new ProgressFlush(deps.clock, message => deps.client.send(message))
    this.#revival = createRevival({
      clock: deps.clock,
      attempt: isFirst => this.#reconnect(isFirst),
      left: this.#leaving.signal,
    })
  }

  /** Resolves when the client has gone and the hub knows. */
  async run(): Promise<void> {
    const { client, clock, log } = this.#deps
    client.onmessage = message => void this.#forward(message)
    client.onclose = () => this.#ended.resolve()
    await client.start()
    await this.#ended.promise
    this.#leaving.abort()
    this.#progressFlush.giveUp()
    for (const { abort } of this.#running.values()) abort.abort()
    const goodbye = this.#hub?.then(hub => hub.terminateSession()).catch(error => log(this.#explain(error)))
    const over = new AbortController()
    await Promise.race([goodbye, sleep(clock, GOODBYE_MS, over.signal)])
    over.abort()
    for (const hub of this.#hubs) await hub.close()
    // A connection that is still being opened is of no use any more.
    void this.#hub?.then(hub => hub.close()).catch(() => undefined)
  }

  /** Forwards a message of the client. Never rejects: an error becomes the answer. */
  async #forward(message: JSONRPCMessage): Promise<void> {
    if (this.#progressFlush.take(message)) return
    if (isInitializeRequest(message)) {
      this.#memory.begin(message as JSONRPCRequest)
      this.#progressFlush.allowPings()
      this.#initialized = Promise.withResolvers()
    } else {
      // A session has no id before that answer, and the hub refuses a message without one.
      await this.#initialized?.promise
    }
    const cancelled = cancelledBy(message)
    try {
      // A modern request is cancelled over HTTP by closing its stream, a legacy one by the notification.
      if (cancelled === undefined || this.#memory.initialize) await this.#send(message)
    } catch (error) {
      if (this.#hasLeft) return
      this.#deps.log(this.#explain(error))
      if (isJSONRPCRequest(message)) await this.#answerError(message, error)
      if (!this.#hub && this.#memory.initialize && !isInitializeRequest(message)) await this.#revival.begin()
    }
    if (cancelled !== undefined) this.#take(cancelled)?.abort.abort()
  }

  async #send(message: JSONRPCMessage, isRepeated = false): Promise<void> {
    this.#hub ??= isInitializeRequest(message) ? this.#open() : this.#reopen()
    const opening = this.#hub
    let hub: Hub | undefined
    try {
      hub = await opening
      // The reopened session was initialized when it was opened.
      if (isInitializedNotification(message) && this.#reopened.has(hub)) return
      if (!isJSONRPCRequest(message)) return await hub.send(message)
      const abort = new AbortController()
      this.#running.set(message.id, { request: message, abort })
      await hub.send(message, {
        requestSignal: abort.signal,
        onRequestStreamEnd: () => void this.#onStreamEnd(message),
      })
    } catch (error) {
      const isGone = neverArrived(error)
      // Only the first that finds the hub gone opens another connection; the others' messages go to that one.
      if ((isGone || !hub) && this.#hub === opening) this.#hub = undefined
      if (!isGone || isRepeated) throw error
      await this.#send(message, true)
    }
  }

  async #open(): Promise<Hub> {
    const { hub } = await openHubSession(this.#deps.findHub(), this.#events(), undefined)
    this.#hubs.add(hub)
    return hub
  }

  async #reopen(): Promise<Hub> {
    const reopening = this.#memory.toReopen()
    if (!reopening) return this.#open()
    const { hub, hearing } = await openHubSession(this.#deps.findHub(), this.#events(), reopening)
    this.#hubs.add(hub)
    this.#reopened.add(hub)
    void hearing?.then(answer => {
      this.#revival.proved()
      for (const news of this.#memory.toNews(answer)) this.#write(news)
    })
    return hub
  }

  #events(): HubSessionEvents {
    return {
      onMessage: (hub, message) => this.#toClient(hub, message),
      onError: error => this.#deps.log(this.#explain(error)),
      onStreamLost: (hub, error) => void this.#onStreamLost(hub, error),
    }
  }

  async #onStreamLost(hub: Hub, error: Error): Promise<void> {
    this.#deps.log(this.#explain(error))
    const opening = this.#hub
    // The opener reports why it could not open.
    const current = await opening?.catch(() => undefined)
    if (current === hub && this.#hub === opening) this.#hub = undefined
    await this.#revival.begin()
  }

  /** Opens a session so that the client hears of changes without sending anything; false if none opened. */
  async #reconnect(isFirst: boolean): Promise<boolean> {
    this.#hub ??= this.#reopen()
    const opening = this.#hub
    try {
      await opening
      return this.#hub === opening
    } catch (error) {
      if (this.#hub === opening) this.#hub = undefined
      if (isFirst) this.#deps.log(this.#explain(error))
      return false
    }
  }

  #toClient(hub: Hub, message: JSONRPCMessage): void {
    const id = 'id' in message && !('method' in message) ? message.id : undefined
    const running = id === undefined ? undefined : this.#take(id)
    if (id !== undefined && running === undefined) return
    if (running && 'result' in message) {
      const version = message.result['protocolVersion']
      if (running.request === this.#memory.initialize && typeof version === 'string')
        hub.setProtocolVersion(version)
      this.#memory.done(running.request)
    }
    this.#write(message)
  }

  async #onStreamEnd(request: JSONRPCRequest): Promise<void> {
    if (!this.#running.has(request.id)) return
    await this.#answerError(request, new Error('The hub went away while it worked on this'))
  }

  async #answerError(request: JSONRPCRequest, error: unknown): Promise<void> {
    this.#take(request.id)
    const message = `The hub did not answer: ${this.#explain(error)}`
    this.#write({ jsonrpc: '2.0', id: request.id, error: { code: INTERNAL_ERROR, message } })
  }

  /** Returns the running request of this id, which counts as answered from now on. */
  #take(id: JSONRPCRequest['id']): Running | undefined {
    const running = this.#running.get(id)
    this.#running.delete(id)
    if (id === this.#memory.initialize?.id) this.#initialized?.resolve()
    return running
  }

  #explain(error: unknown): string {
    const isRefused = error instanceof SdkHttpError && error.status === 401
    return isRefused
      ? `the hub refuses the token in ${this.#deps.tokenFile}: it was revoked, or has expired. To let this client in again, delete that file and start the client anew.`
      : describeError(error)
  }

  get #hasLeft(): boolean {
    return this.#leaving.signal.aborted
  }

  #write(message: JSONRPCMessage): void {
    const { client, log } = this.#deps
    this.#sending = this.#sending
      .then(() => this.#progressFlush.before(message))
      .then(() => client.send(message))
      .catch(error => {
        if (!this.#hasLeft) log(`The client did not take a message: ${describeError(error)}`)
      })
  }
}

function cancelledBy(message: JSONRPCMessage): JSONRPCRequest['id'] | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const id = message.params?.['requestId']
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

/** Tells whether the hub surely did not act: it refused token or session, or nobody took the request. */
function neverArrived(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 401 || error.status === 404
  const cause = error instanceof TypeError ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
}
