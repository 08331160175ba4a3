import {
  type CallToolResult,
  type GetPromptResult,
  type LoggingLevel,
  type ReadResourceResult,
  SdkError,
  SdkErrorCode,
  type ServerCapabilities,
} from '@modelcontextprotocol/client'
import { sleep } from '../core/clock.ts'
import type { ForwardOptions, JsonObject } from '../core/forwarding.ts'
import { type ConnectDeps, type Connected, type ConnectHooks, connectServer } from './connect.ts'
import { HealthCheck } from './health-check.ts'
import { Listings } from './listings.ts'
import { decideLoss } from './loss.ts'
import type { Offer, OfferKind } from './offer.ts'
import type { ServerSpec } from './server-spec.ts'
import { createSubscriptions, type Subscriptions } from './subscriptions.ts'

/** Receives what happens to a session; nothing after it was closed. */
export interface SessionHooks extends ConnectHooks {
  /** Called when its lists, the unread ones or its silence changed. */
  onChange(): void
  /** Called when a subscribed resource changed, or may have. */
  onUpdated(uri: string): void
  /** Called when the connection broke, or the server forgot it. */
  onLost(error: unknown): void
  /** Returns why the server is gone, in words for its requesters. */
  describeLoss(error: unknown): string
}

export interface SessionDeps extends Omit<ConnectDeps, 'onBroken'> {
  random: () => number
  hooks: SessionHooks
}

/** Results as the server gave them; a server of 2026-07-28 may ask for input instead. */
export interface ForwardedResults {
  'tools/call': CallToolResult
  'resources/read': ReadResourceResult
  'prompts/get': GetPromptResult
  'completion/complete': JsonObject
}

const LIST_CHANGES = {
  'notifications/tools/list_changed': ['tools'],
  'notifications/resources/list_changed': ['resources', 'resourceTemplates'],
  'notifications/prompts/list_changed': ['prompts'],
} as const satisfies Record<string, readonly OfferKind[]>

/** Milliseconds for which the lists wait for the answer to `subscriptions/listen`. */
const LISTEN_MS = 2_000

/** One initialized connection to a server: its lists, and requests to it. The opener closes it. */
export class UpstreamSession {
  readonly era: 'legacy' | 'modern'
  readonly transport: Connected['transport']
  readonly instructions: string
  readonly capabilities: ServerCapabilities
  readonly #connected: Connected
  readonly #spec: ServerSpec
  readonly #deps: SessionDeps
  readonly #subscriptions: Subscriptions
  readonly #health: HealthCheck
  readonly #listings: Listings
  readonly #ended = new AbortController()
  #isRead = false

  private constructor(spec: ServerSpec, connected: Connected, deps: SessionDeps) {
    const { client, requests, mirror, transport } = connected
    this.transport = transport
    this.era = client.getProtocolEra() ?? 'legacy'
    this.instructions = client.getInstructions() ?? ''
    this.capabilities = client.getServerCapabilities() ?? {}
    this.#connected = connected
    this.#spec = spec
    this.#deps = deps
    const { signal } = this.#ended
    const { capabilities } = this
    this.#health = new HealthCheck({
      ...deps,
      signal,
      ping: limit => this.#send(this.era === 'modern' ? 'server/discover' : 'ping', {}, { signal: limit }),
      decideLoss: error => decideLoss(error, spec),
      onChange: () => deps.hooks.onChange(),
      onLost: error => this.#lose(error),
    })
    this.#listings = new Listings({
      ...deps,
      signal,
      capabilities,
      request: (method, params, limit) => requests.request(method, params, { signal: limit }),
      learnTools: tools => mirror?.learn(tools) ?? tools,
      onRead: () => deps.hooks.onChange(),
      onFailed: error => this.#health.failed(error),
    })
    this.#subscriptions = createSubscriptions(client, {
      ...deps,
      capabilities,
      signal,
      request: async (method, params) => void (await this.#send(method, params)),
      onBroken: () => this.#catchUp(),
    })
  }

  /** Connects and reads the lists. Throws the failure or the signal's reason; nothing is left open then. */
  static async open(spec: ServerSpec, deps: SessionDeps, signal: AbortSignal): Promise<UpstreamSession> {
    let session: UpstreamSession | undefined
    const onBroken = () => {
      if (session) session.#catchUp()
    }
    session = new UpstreamSession(spec, await connectServer(spec, { ...deps, onBroken }, signal), deps)
    try {
      await session.#begin(signal)
      return session
    } catch (error) {
      await session.close()
      throw error
    }
  }

  get offer(): Offer {
    return this.#listings.offer
  }

  /** The lists that could not be read, each with the reason. */
  get unread(): ReadonlyMap<OfferKind, string> {
    return this.#listings.unread
  }

  /** The list entries that clients would refuse, each with the reason. */
  get leftOut(): readonly string[] {
    return this.#listings.leftOut
  }

  /** The reason why the server counts as silent; undefined while it does not. */
  get silence(): string | undefined {
    return this.#health.silence
  }

  /** Throws the server's error, `SdkError` if the connection is gone or silent, or the signal's reason. */
  async request<Method extends keyof ForwardedResults>(
    method: Method,
    params: JsonObject,
    options?: ForwardOptions,
  ): Promise<ForwardedResults[Method]>
  async request(method: string, params: JsonObject, options: ForwardOptions = {}): Promise<JsonObject> {
    try {
      const result = await this.#connected.requests.request(method, params, options)
      this.#health.callAnswered()
      return result
    } catch (error) {
      // A caller that went away aborts with the end of its own connection, which says nothing of this one.
      if (!options.signal?.aborted) this.#health.callFailed(error)
      throw error
    }
  }

  /** Reports each change of these resources from now on, and of no others. */
  subscribe(uris: ReadonlySet<string>): void {
    this.#subscriptions.want(uris)
  }

  /** Resolves when the subscriptions are in force, as far as they ever will be. */
  untilSubscribed(): Promise<void> {
    return this.#subscriptions.inForce
  }

  /** Asks for log messages from this level on; does nothing if the server has none to set. */
  async setLogLevel(level: LoggingLevel): Promise<void> {
    if (this.capabilities.logging && this.era === 'legacy') await this.#send('logging/setLevel', { level })
  }

  /** Tells a legacy server that the roots of its requesters changed. */
  async rootsChanged(): Promise<void> {
    if (this.era === 'legacy') await this.#connected.requests.notify('notifications/roots/list_changed')
  }

  /** Closes the connection; resolves when nothing of it runs any more. */
  async close(): Promise<void> {
    const { client, requests } = this.#connected
    if (!this.#ended.signal.aborted) this.#ended.abort(new Error('The connection was closed'))
    delete client.onclose
    requests.close('the hub ended it')
    await client.close()
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const { client } = this.#connected
    client.onclose = () => this.#lose(new SdkError(SdkErrorCode.ConnectionClosed, 'The connection closed'))
    client.onerror = error => this.#deps.log.debug('server_error', { error })
    for (const [method, kinds] of Object.entries(LIST_CHANGES)) {
      client.setNotificationHandler(method as keyof typeof LIST_CHANGES, () => this.#listings.changed(kinds))
    }
    client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
      this.#deps.hooks.onUpdated(params.uri),
    )
    this.#subscriptions.begin()
    await this.#untilListening(signal)
    await this.#listings.readAll(signal, error => decideLoss(error, this.#spec) === 'lost')
    if (!client.transport) throw new Error('The connection closed at once')
    this.#isRead = true
  }

  /** Waits until changes are reported, so that none between the reading and that is missed. */
  async #untilListening(signal: AbortSignal): Promise<void> {
    const waiting = new AbortController()
    const inForce = this.#subscriptions.inForce.then(() => {
      waiting.abort()
      // The lists were read before a slow server acknowledged.
      this.#catchUp()
    })
    const limit = AbortSignal.any([signal, waiting.signal])
    await Promise.race([inForce, sleep(this.#deps.clock, LISTEN_MS, limit).catch(() => undefined)])
    signal.throwIfAborted()
  }

  /** Sends a request of the hub's own. Throws as `request` does. */
  async #send(method: string, params: JsonObject, options: ForwardOptions = {}): Promise<JsonObject> {
    try {
      const result = await this.#connected.requests.request(method, params, options)
      this.#health.answered()
      return result
    } catch (error) {
      if (!options.signal?.aborted) this.#health.failed(error)
      throw error
    }
  }

  /** Reads what a broken stream may have missed, and so learns whether the server knows this connection. */
  #catchUp(): void {
    if (this.#ended.signal.aborted || !this.#isRead) return
    this.#listings.refresh()
    for (const uri of this.#subscriptions.wanted) this.#deps.hooks.onUpdated(uri)
  }

  #lose(error: unknown): void {
    if (this.#ended.signal.aborted) return
    this.#ended.abort(error)
    this.#connected.requests.close(this.#deps.hooks.describeLoss(error))
    this.#deps.hooks.onLost(error)
  }
}
