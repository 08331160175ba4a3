import {
  type CallToolResult,
  type Client,
  type GetPromptResult,
  type LoggingLevel,
  type ReadResourceResult,
  SdkError,
  SdkErrorCode,
  type ServerCapabilities,
} from '@modelcontextprotocol/client'
import { describeError } from '../core/errors.ts'
import type { ForwardOptions, JsonObject } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import { type ConnectDeps, type Connected, connectServer } from './connect.ts'
import { createLook, type Look } from './look.ts'
import type { Loss } from './lost.ts'
import { NO_OFFER, OFFER_KINDS, type Offer, type OfferKind, readList } from './offer.ts'
import type { ServerSpec } from './server-spec.ts'
import { createSubscriptions, type Subscriptions } from './subscriptions.ts'
import type { Wire } from './wire.ts'

/** Receives what happens to a link; nothing after the link was closed. */
export interface LinkHooks {
  /** Called when a list was read again, or could not be. */
  onOffer(kind: OfferKind): void
  /** Called when a subscribed resource changed, or may have. */
  onUpdated(uri: string): void
  /** Called with a log message, or the end of an elicitation by URL, that belongs to no request. */
  onNotice(method: string, params: JsonObject): void
  /** Called when the connection broke, or the server forgot it. */
  onLost(error: unknown): void
  /** Returns why the server is gone, in words for its requesters. */
  describeLoss(error: unknown): string
}

export interface LinkDeps extends ConnectDeps {
  random: () => number
  log: Log
  hooks: LinkHooks
  /** Decides what a failed request says of the connection itself. */
  decideLoss: (error: unknown) => Loss
}

/** Results as the server gave them; a server of 2026-07-28 may ask for input instead. */
export interface ForwardedResults {
  'tools/call': CallToolResult
  'resources/read': ReadResourceResult
  'prompts/get': GetPromptResult
  'completion/complete': JsonObject
}

/** A live connection to one server: its lists, and requests to it. The opener closes it. */
export class Link {
  readonly era: 'legacy' | 'modern'
  readonly transport: Connected['transport']
  readonly instructions: string
  readonly capabilities: ServerCapabilities
  readonly #client: Client
  readonly #wire: Wire
  readonly #mirror: Connected['mirror']
  readonly #deps: LinkDeps
  readonly #subscriptions: Subscriptions
  readonly #look: Look
  readonly #ended = new AbortController()
  readonly #reading = new Map<OfferKind, 'once' | 'again'>()
  readonly #unread = new Map<OfferKind, string>()
  readonly #leftOut = new Map<OfferKind, readonly string[]>()
  #offer: Offer = NO_OFFER

  private constructor({ client, wire, mirror, transport }: Connected, deps: LinkDeps) {
    this.transport = transport
    this.era = client.getProtocolEra() ?? 'legacy'
    this.instructions = client.getInstructions() ?? ''
    this.capabilities = client.getServerCapabilities() ?? {}
    this.#client = client
    this.#wire = wire
    this.#mirror = mirror
    this.#deps = deps
    this.#look = createLook({
      ...deps,
      signal: this.#ended.signal,
      ping: signal => this.ping(signal),
      onLost: error => this.#lose(error),
    })
    this.#subscriptions = createSubscriptions(client, {
      ...deps,
      capabilities: this.capabilities,
      signal: this.#ended.signal,
      request: (method, params) => this.request(method, params).then(() => undefined),
      onBroken: () => this.#catchUp(),
    })
  }

  /** Connects and reads the lists. Throws the failure or the signal's reason; nothing is left open then. */
  static async open(spec: ServerSpec, deps: LinkDeps, signal: AbortSignal): Promise<Link> {
    let link: Link | undefined
    const onBroken = () => {
      if (link) link.#catchUp()
    }
    link = new Link(await connectServer(spec, deps, onBroken, signal), deps)
    try {
      await link.#begin(signal)
      return link
    } catch (error) {
      await link.close()
      throw error
    }
  }

  get offer(): Offer {
    return this.#offer
  }

  /** The lists that could not be read, each with the reason. */
  get unread(): ReadonlyMap<OfferKind, string> {
    return this.#unread
  }

  /** The list entries that clients would refuse, each with the reason. */
  get leftOut(): readonly string[] {
    return [...this.#leftOut.values()].flat()
  }

  /** Reads the unread lists again. */
  readAgain(): void {
    for (const kind of this.#unread.keys()) this.#refresh(kind)
  }

  /** Pings the server in the way of its era; throws as `request` does. */
  async ping(signal: AbortSignal): Promise<void> {
    await this.request(this.era === 'modern' ? 'server/discover' : 'ping', {}, { signal })
  }

  /** Throws the server's error, `SdkError` if the connection is gone or silent, or the signal's reason. */
  async request<Method extends keyof ForwardedResults>(
    method: Method,
    params: JsonObject,
    options?: ForwardOptions,
  ): Promise<ForwardedResults[Method]>
  async request(method: string, params: JsonObject, options?: ForwardOptions): Promise<JsonObject>
  async request(method: string, params: JsonObject, options: ForwardOptions = {}): Promise<JsonObject> {
    try {
      const result = await this.#wire.request(method, params, options)
      this.#look.answered()
      return result
    } catch (error) {
      // A caller that went away aborts with the end of its own connection, which says nothing of this one.
      if (!options.signal?.aborted) this.#judge(error)
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
    if (this.capabilities.logging && this.era === 'legacy') await this.request('logging/setLevel', { level })
  }

  /** Tells a legacy server that the roots of its requesters changed. */
  async rootsChanged(): Promise<void> {
    if (this.era === 'legacy') await this.#wire.notify('notifications/roots/list_changed')
  }

  /** Closes the connection; resolves when nothing of it runs any more. */
  async close(): Promise<void> {
    if (!this.#ended.signal.aborted) this.#ended.abort(new Error('The connection was closed'))
    delete this.#client.onclose
    this.#wire.close('the hub ended it')
    await this.#client.close()
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const client = this.#client
    client.onclose = () => this.#lose(new SdkError(SdkErrorCode.ConnectionClosed, 'The connection closed'))
    client.onerror = error => this.#deps.log.debug('server_error', { error })
    const told = {
      'notifications/tools/list_changed': ['tools'],
      'notifications/resources/list_changed': ['resources', 'resourceTemplates'],
      'notifications/prompts/list_changed': ['prompts'],
    } as const
    for (const [method, kinds] of Object.entries(told)) {
      client.setNotificationHandler(method as keyof typeof told, () => {
        for (const kind of kinds) this.#refresh(kind)
      })
    }
    client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
      this.#deps.hooks.onUpdated(params.uri),
    )
    await Promise.all(OFFER_KINDS.map(kind => this.#readFirst(kind, signal)))
    if (!client.transport) throw new Error('The connection closed at once')
    this.#subscriptions.begin()
  }

  /** Reads a list at the start. Throws if it is the tools', without which a server is of no use. */
  async #readFirst(kind: OfferKind, signal: AbortSignal): Promise<void> {
    try {
      await this.#read(kind, signal)
    } catch (error) {
      if (kind === 'tools') throw new Error('its tools cannot be listed', { cause: error })
      signal.throwIfAborted()
      if (this.#deps.decideLoss(error) === 'lost') throw error
      this.#unread.set(kind, describeError(error))
      this.#deps.log.warn('not_listed', { kind, error })
    }
  }

  async #read(kind: OfferKind, signal: AbortSignal): Promise<void> {
    this.#reading.set(kind, 'once')
    const leftOut: string[] = []
    const leaveOut = (name: string, reason: string) => {
      leftOut.push(`${name}: ${reason}`)
      this.#deps.log.warn('entry_left_out', { kind, name, reason })
    }
    try {
      const list = await readList(
        kind,
        this.capabilities,
        (method, params) => this.#wire.request(method, params, { signal }),
        leaveOut,
      )
      this.#unread.delete(kind)
      const offer = { ...this.#offer, [kind]: list }
      const tools = kind === 'tools' ? this.#mirror?.learn(offer.tools) : undefined
      const kept = new Set(tools ?? offer.tools)
      for (const tool of offer.tools) if (!kept.has(tool)) leaveOut(tool.name, 'a wrong x-mcp-header')
      this.#leftOut.set(kind, leftOut)
      this.#offer = tools ? { ...offer, tools } : offer
    } finally {
      const again = this.#reading.get(kind) === 'again'
      this.#reading.delete(kind)
      if (again && !this.#ended.signal.aborted) this.#refresh(kind)
    }
  }

  /** Reads a list again, by one request at a time; a change that is reported meanwhile causes one more. */
  #refresh(kind: OfferKind): void {
    if (this.#reading.has(kind)) {
      this.#reading.set(kind, 'again')
      return
    }
    const { signal } = this.#ended
    this.#read(kind, signal).then(
      () => signal.aborted || this.#deps.hooks.onOffer(kind),
      error => {
        if (signal.aborted) return
        this.#judge(error)
        // `#judge` may have ended the link.
        if (signal.aborted) return
        this.#unread.set(kind, describeError(error))
        this.#deps.log.warn('not_listed', { kind, error })
        this.#deps.hooks.onOffer(kind)
      },
    )
  }

  /** Reads what a broken stream may have missed, and so learns whether the server knows this connection. */
  #catchUp(): void {
    if (this.#ended.signal.aborted) return
    for (const kind of OFFER_KINDS) this.#refresh(kind)
    for (const uri of this.#subscriptions.wanted) this.#deps.hooks.onUpdated(uri)
  }

  #judge(error: unknown): void {
    const loss = this.#deps.decideLoss(error)
    if (loss === 'lost') this.#lose(error)
    else if (loss === 'in doubt') this.#look.begin(error)
  }

  #lose(error: unknown): void {
    if (this.#ended.signal.aborted) return
    this.#ended.abort(error)
    this.#wire.close(this.#deps.hooks.describeLoss(error))
    this.#deps.hooks.onLost(error)
  }
}
