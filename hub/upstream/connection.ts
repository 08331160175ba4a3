import type { LoggingLevel, ReadResourceResult, ServerCapabilities } from '@modelcontextprotocol/client'
import { decideBackoff } from '../core/backoff.ts'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import type { ForwardOptions, JsonObject } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import { MOST_IN_FLIGHT } from './bounds.ts'
import { type ConnectionState, decideCondition, describeBusy, describeDown } from './connection-state.ts'
import { describeLoss, withDeadline } from './loss.ts'
import type { NegotiationCache } from './negotiation.ts'
import type { Authorization } from './oauth/authorization.ts'
import type { Authorizations } from './oauth/authorizations.ts'
import { NO_OFFER, type Offer } from './offer.ts'
import { MOST_RESTARTS, type RestartLimit, WAITS } from './restarts.ts'
import type { ServerLog } from './server-log.ts'
import type { ServerSpec } from './server-spec.ts'
import { type ForwardedResults, type SessionDeps, UpstreamSession } from './session.ts'
import type { ChildGuard } from './stdio/child-guard.ts'

export interface ConnectionDeps {
  clock: Clock
  random: () => number
  log: Log
  negotiated: NegotiationCache
  authorizations: Pick<Authorizations, 'of'>
  guard: ChildGuard
  version: string
  /** Milliseconds that connecting may take, unless the spec says otherwise. */
  connectTimeout: number
  /** Milliseconds without a result or progress, unless the spec says otherwise. */
  callTimeout: number
  /** Called when its state or its lists changed. */
  onChange: () => void
  /** Called when a subscribed resource changed, or may have. */
  onUpdated: (uri: string) => void
  /** Called with a log message, or the end of an elicitation by URL, that belongs to no request. */
  onNotice: (server: string, method: string, params: JsonObject) => void
  /** Called when its events' resource changed, or when it was just connected. */
  onEvents: (connection: Connection) => void
}

/** Milliseconds after which a connection is a success; one that breaks sooner is retried ever more slowly. */
const STABLE_MS = 10_000

/**
 * Keeps one server connected: follows its changes, and reconnects for ever with back-off when it is lost. The
 * constructor starts to connect; the creator disposes of it.
 */
export class Connection implements AsyncDisposable {
  readonly spec: ServerSpec
  readonly #deps: ConnectionDeps
  readonly #log: Log
  readonly #restarts: RestartLimit
  readonly #authorization: Authorization | undefined
  readonly #serverLog: ServerLog
  readonly #ended = new AbortController()
  #status: ConnectionState = { state: 'starting' }
  #settled = Promise.withResolvers<void>()
  #offer: Offer = NO_OFFER
  #capabilities: ServerCapabilities = {}
  #instructions = ''
  #wanted: ReadonlySet<string> = new Set()
  #logLevel: LoggingLevel | undefined
  /** True if the server had a connection before. */
  #isAnew: boolean
  #session: UpstreamSession | undefined
  #failures = 0
  #readyAt = 0
  /** True if a process of it ran in a sandbox, and none was ever ready. */
  #mayNeedMore = false
  #inFlight = 0
  /** How its last process ended, with the end of its log. */
  #exitTail: string | undefined
  #cancelRetry: (() => void) | undefined
  #connecting: Promise<void>
  /** Resolves when the lost connection and its process have ended. */
  #closing: Promise<void> = Promise.resolve()

  /** `restarts` and `log` are shared by all connections to one server; `isAnew` is true if the server had one before. */
  constructor(
    spec: ServerSpec,
    deps: ConnectionDeps,
    { restarts, isAnew, log }: { restarts: RestartLimit; isAnew: boolean; log: ServerLog },
  ) {
    this.spec = spec
    this.#restarts = restarts
    this.#isAnew = isAnew
    this.#serverLog = log
    this.#authorization = deps.authorizations.of(spec)
    this.#deps = {
      ...deps,
      connectTimeout: spec.connectTimeout ?? deps.connectTimeout,
      callTimeout: spec.callTimeout ?? deps.callTimeout,
    }
    this.#log = deps.log.with({ server: spec.name })
    this.#connecting = this.#connect()
  }

  get status(): ConnectionState {
    return this.#status
  }

  /** The lists as last read; they stay while the server is down. */
  get offer(): Offer {
    return this.#offer
  }

  /** The list entries that clients would refuse, each with the reason; none while it is not connected. */
  get leftOut(): readonly string[] {
    return this.#session?.leftOut ?? []
  }

  /** The capabilities that the server last declared. */
  get capabilities(): ServerCapabilities {
    return this.#capabilities
  }

  /** The server's instructions for a model. */
  get instructions(): string {
    return this.#instructions
  }

  /** The URI of the resource that its events come from, if it has one. */
  get eventsUri(): string | undefined {
    return this.#offer.resources.find(({ uri }) => uri.startsWith('events://'))?.uri
  }

  /**
   * Sends a request; waits while the server starts. Throws `unavailable` at once while it is down,
   * `rate_limited` over MOST_IN_FLIGHT, and the server's errors.
   */
  async request<Method extends keyof ForwardedResults>(
    method: Method,
    params: JsonObject,
    options: ForwardOptions = {},
  ): Promise<ForwardedResults[Method]> {
    if (this.#inFlight >= MOST_IN_FLIGHT) throw new HubError('rate_limited', describeBusy(this.spec.name))
    this.#inFlight++
    try {
      const session = this.#session ?? (await this.#ready(options.signal))
      return await session.request(method, params, options)
    } finally {
      this.#inFlight--
    }
  }

  /** The resources whose changes it reports. */
  get wanted(): ReadonlySet<string> {
    return this.#wanted
  }

  /** Reports each change of these resources from now on, besides its events'. */
  subscribe(uris: ReadonlySet<string>): void {
    this.#wanted = uris
    this.#session?.subscribe(this.#subscribed())
  }

  /** Asks for log messages from this level on, now and after each reconnect. */
  setLogLevel(level: LoggingLevel): void {
    this.#logLevel = level
    this.#session?.setLogLevel(level).catch(error => this.#log.warn('log_level_not_set', { error }))
  }

  /** Tells the server that the roots of its requesters changed. */
  rootsChanged(): void {
    this.#session?.rootsChanged().catch(error => this.#log.debug('roots_not_told', { error }))
  }

  /** Resolves when the server is no longer starting, at the latest after `connectTimeout`. */
  async untilSettled(signal?: AbortSignal): Promise<void> {
    const limit = withDeadline(this.#deps.clock, this.#deps.connectTimeout, signal)
    const over = Promise.withResolvers<void>()
    if (limit.signal.aborted) over.resolve()
    limit.signal.addEventListener('abort', () => over.resolve(), { once: true })
    await Promise.race([this.#settled.promise, over.promise])
    limit.cancel()
  }

  readResource(uri: string): Promise<ReadResourceResult> {
    return this.request('resources/read', { uri })
  }

  /** Ends the connection; resolves when nothing of it runs any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort(new HubError('unavailable', `The server ${this.spec.name} was removed`))
    this.#settled.resolve()
    await this.#leave()?.close()
    await this.#connecting
    await this.#closing
  }

  async #connect(): Promise<void> {
    const attempt = withDeadline(this.#deps.clock, this.#deps.connectTimeout, this.#ended.signal)
    try {
      await this.#closing
      this.#exitTail = undefined
      this.#adopt(await UpstreamSession.open(this.spec, this.#sessionDeps(), attempt.signal))
    } catch (error) {
      this.#fail(error)
    } finally {
      attempt.cancel()
    }
  }

  #adopt(session: UpstreamSession): void {
    if (this.#ended.signal.aborted) {
      this.#closing = session.close()
      return
    }
    this.#session = session
    this.#instructions = session.instructions
    this.#capabilities = session.capabilities
    this.#readyAt = this.#deps.clock.monotonic()
    this.#mayNeedMore = false
    if (this.#logLevel !== undefined) this.setLogLevel(this.#logLevel)
    this.#note('hub', `connected, ${session.offer.tools.length} tools`)
    this.#log.info('server_ready', { era: session.era, tools: session.offer.tools.length })
    this.#show(session)
    if (this.eventsUri) this.#deps.onEvents(this)
    if (this.#isAnew) void this.#catchUp(session)
    this.#isAnew = true
  }

  /** Reports the `#wanted` as changed: a server does not report changes made while it was disconnected. */
  async #catchUp(session: UpstreamSession): Promise<void> {
    await session.untilSubscribed()
    if (this.#session === session) for (const uri of this.#wanted) this.#deps.onUpdated(uri)
  }

  /** Publishes the state and the lists of the server while it is connected. */
  #show(session: UpstreamSession): void {
    this.#offer = session.offer
    session.subscribe(this.#subscribed())
    const next = decideCondition(session)
    if (next.state === 'degraded' && this.#status.state !== 'degraded')
      this.#log.warn('server_degraded', { error: next.error })
    this.#become(next)
  }

  #subscribed(): ReadonlySet<string> {
    return this.eventsUri === undefined ? this.#wanted : new Set([this.eventsUri, ...this.#wanted])
  }

  #become(next: ConnectionState): void {
    this.#status = next
    if (next.state === 'starting') this.#settled = Promise.withResolvers()
    else this.#settled.resolve()
    this.#deps.onChange()
  }

  #fail(error: unknown): void {
    if (this.#ended.signal.aborted) return
    this.#failures++
    const { clock, random } = this.#deps
    const { wait, capped } = this.#restarts.next(
      clock.monotonic(),
      decideBackoff(this.#failures, WAITS, random),
    )
    const end = describeLoss(error, this.#exitTail)
    const isContainedEnd = this.#mayNeedMore && end === this.#exitTail
    const hint = isContainedEnd ? ' (in a sandbox; "sandbox: off" in its entry starts it without)' : ''
    const reason = `${end}${hint}`
    const why = capped ? `${reason} (it was started ${MOST_RESTARTS} times within a minute)` : reason
    this.#note('hub', `down: ${why}`)
    this.#log.warn('server_down', { error: why, retryInMs: wait })
    this.#become({ state: 'down', error: why, nextTryAt: clock.now() + wait })
    this.#cancelRetry = clock.after(wait, () => {
      this.#become({ state: 'starting', error: why })
      this.#connecting = this.#connect()
    })
  }

  #lose(error: unknown): void {
    if (!this.#session || this.#ended.signal.aborted) return
    if (this.#deps.clock.monotonic() - this.#readyAt > STABLE_MS) this.#failures = 0
    this.#closing = Promise.resolve(this.#leave()?.close()).catch(cause =>
      this.#log.debug('close_failed', { error: cause }),
    )
    this.#fail(error)
  }

  /** Drops the session and returns it; the caller closes it. */
  #leave(): UpstreamSession | undefined {
    const session = this.#session
    this.#session = undefined
    this.#cancelRetry?.()
    return session
  }

  async #ready(signal?: AbortSignal): Promise<UpstreamSession> {
    if (this.#status.state === 'starting') await this.untilSettled(signal)
    if (this.#session) return this.#session
    throw new HubError('unavailable', describeDown(this.spec.name, this.#status))
  }

  #note(by: 'server' | 'hub', text: string): void {
    this.#serverLog.add({ at: this.#deps.clock.now(), by, text })
  }

  #sessionDeps(): SessionDeps {
    return {
      ...this.#deps,
      log: this.#log,
      authorization: this.#authorization,
      hooks: {
        onStarted: pid => {
          const { transport } = this.spec
          this.#mayNeedMore =
            this.#readyAt === 0 && transport.kind === 'stdio' && transport.wrap !== undefined
          return this.#deps.guard.watch(pid)
        },
        onStderr: line => {
          this.#note('server', line)
          this.#log.debug('server_stderr', { line })
        },
        onGone: why => {
          this.#exitTail = why
        },
        onNotice: (method, params) => this.#deps.onNotice(this.spec.name, method, params),
        onChange: () => this.#session && this.#show(this.#session),
        onUpdated: uri => {
          if (uri === this.eventsUri) this.#deps.onEvents(this)
          if (this.#wanted.has(uri)) this.#deps.onUpdated(uri)
        },
        onLost: error => this.#lose(error),
        describeLoss: error => describeLoss(error, this.#exitTail),
      },
    }
  }
}
