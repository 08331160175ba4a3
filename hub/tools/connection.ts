import type { CallToolResult, Client, Progress, ReadResourceResult, Tool } from '@modelcontextprotocol/client'
import type { HealthReport } from '../../schemas/health.ts'
import type { Clock } from '../core/clock.ts'
import { toIso } from '../core/clock.ts'
import { describeError, HubError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { decideBackoff } from './backoff.ts'
import { connectServer, type EraMemory } from './connect.ts'
import { readHealth } from './health.ts'
import { isLost, withDeadline } from './lost.ts'
import type { ServerSpec } from './server-spec.ts'
import { keepSubscribed, readTools } from './subscriptions.ts'

/** `error` of one that starts is why it went away before. */
export type ConnectionState =
  | { state: 'starting'; error?: string }
  | { state: 'ready'; era: 'legacy' | 'modern' }
  | { state: 'down'; error: string; nextTryAt: number }

export interface CallOptions {
  signal?: AbortSignal
  meta?: Record<string, unknown>
  onProgress?: (progress: Progress) => void
}

export interface ConnectionDeps {
  clock: Clock
  random: () => number
  log: Log
  eras: EraMemory
  version: string
  /** Milliseconds. */
  connectTimeout: number
  /** Milliseconds without a result or progress. */
  callTimeout: number
  /** Its state or its tools changed. */
  onChange: () => void
  /** Its events' resource changed, or it was just connected. */
  onEvents: (connection: Connection) => void
}

/** A connection that held so long counts as a success; one that breaks sooner is tried again ever more slowly. */
const STABLE_MS = 10_000
/** A server asks the programs behind it all at once, each for at most ten seconds. */
const HEALTH_TIMEOUT_MS = 15_000

/**
 * One server, kept: connected, told of its changes, and reconnected for ever with back-off when it goes away.
 * It starts to connect when made; who makes it disposes of it.
 */
export class Connection implements AsyncDisposable {
  readonly spec: ServerSpec
  readonly #deps: ConnectionDeps
  readonly #log: Log
  readonly #ended = new AbortController()
  #status: ConnectionState = { state: 'starting' }
  #settled = Promise.withResolvers<void>()
  #tools: readonly Tool[] = []
  #instructions = ''
  #eventsUri: string | undefined
  #client: Client | undefined
  #failures = 0
  #readyAt = 0
  /** Why its last process ended. */
  #goodbye: string | undefined
  #listings = 0
  #cancelRetry: (() => void) | undefined
  #connecting: Promise<void>
  /** The end of a connection that was lost: of its process too. */
  #closing: Promise<void> = Promise.resolve()

  constructor(spec: ServerSpec, deps: ConnectionDeps) {
    this.spec = spec
    this.#deps = deps
    this.#log = deps.log.with({ server: spec.name })
    this.#connecting = this.#connect()
  }

  get status(): ConnectionState {
    return this.#status
  }

  /** The tools that it last listed; they stay while it is down. */
  get tools(): readonly Tool[] {
    return this.#tools
  }

  /** What it says of itself, for a model. */
  get instructions(): string {
    return this.#instructions
  }

  /** The resource that its events come from, if it has one. */
  get eventsUri(): string | undefined {
    return this.#eventsUri
  }

  /** Throws `unavailable` at once while it is down; waits while it starts. Other errors are the server's. */
  async call(
    tool: string,
    args: Record<string, unknown>,
    options: CallOptions = {},
  ): Promise<CallToolResult> {
    const client = await this.#ready(options.signal)
    try {
      return await client.callTool(
        { name: tool, arguments: args, ...(options.meta ? { _meta: options.meta } : {}) },
        {
          timeout: this.#deps.callTimeout,
          resetTimeoutOnProgress: true,
          ...(options.signal ? { signal: options.signal } : {}),
          ...(options.onProgress ? { onprogress: options.onProgress } : {}),
        },
      )
    } catch (error) {
      // A caller that went away aborts with the end of its own connection, which is not this one's.
      if (!options.signal?.aborted && isLost(error, this.spec)) this.#lose(client, error)
      throw error
    }
  }

  /** Resolves when it is ready or down, at the latest after the time that a connection may take. */
  async untilSettled(signal?: AbortSignal): Promise<void> {
    const deadline = withDeadline(this.#deps.clock, this.#deps.connectTimeout, signal)
    const given = Promise.withResolvers<void>()
    const giveUp = () => given.resolve()
    if (deadline.signal.aborted) giveUp()
    deadline.signal.addEventListener('abort', giveUp, { once: true })
    await Promise.race([this.#settled.promise, given.promise])
    deadline.signal.removeEventListener('abort', giveUp)
    deadline.cancel()
  }

  async readResource(uri: string): Promise<ReadResourceResult> {
    const client = await this.#ready()
    return client.readResource({ uri }, { timeout: this.#deps.callTimeout, cacheMode: 'bypass' })
  }

  /** Asks it whether the programs behind it answer; undefined where it cannot tell. Throws as `call` does. */
  async readHealth(): Promise<HealthReport | undefined> {
    return readHealth(await this.#ready(), { timeout: HEALTH_TIMEOUT_MS, signal: this.#ended.signal })
  }

  /** Resolves when nothing of it runs any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort(new HubError('unavailable', `The server ${this.spec.name} was removed`))
    this.#cancelRetry?.()
    this.#settled.resolve()
    const client = this.#client
    this.#client = undefined
    if (client) await close(client)
    await this.#connecting
    await this.#closing
  }

  async #connect(): Promise<void> {
    const { clock, connectTimeout } = this.#deps
    const attempt = withDeadline(clock, connectTimeout, this.#ended.signal)
    try {
      await this.#closing
      this.#goodbye = undefined
      const client = await connectServer(
        this.spec,
        this.#connectDeps(),
        { prepare: of => this.#prepare(of), onBroken: of => this.#catchUp(of) },
        attempt.signal,
      )
      try {
        await this.#adopt(client, attempt.signal)
      } catch (error) {
        await close(client)
        throw error
      }
    } catch (error) {
      if (attempt.signal.aborted) this.#goodbye = undefined
      this.#fail(error)
    } finally {
      attempt.cancel()
    }
  }

  async #adopt(client: Client, signal: AbortSignal): Promise<void> {
    client.onclose = () => this.#lose(client, new Error('The connection closed'))
    const bounds = { timeout: this.#deps.connectTimeout, signal }
    this.#tools = await readTools(client, bounds)
    this.#listings++
    this.#instructions = client.getInstructions() ?? ''
    this.#eventsUri = await keepSubscribed(client, {
      clock: this.#deps.clock,
      random: this.#deps.random,
      log: this.#log,
      signal: this.#ended.signal,
      bounds,
      onListChanged: of => this.#refreshTools(of),
      onEvents: () => this.#deps.onEvents(this),
    })
    if (this.#ended.signal.aborted || !client.transport) throw new Error('The connection closed at once')
    this.#client = client
    this.#readyAt = this.#deps.clock.monotonic()
    const era = client.getProtocolEra() ?? 'legacy'
    this.#log.info('server_ready', { era, tools: this.#tools.length })
    this.#become({ state: 'ready', era })
    if (this.#eventsUri) this.#deps.onEvents(this)
  }

  #prepare(client: Client): void {
    client.setNotificationHandler('notifications/tools/list_changed', () => this.#refreshTools(client))
    client.setNotificationHandler('notifications/resources/updated', note => {
      if (note.params.uri === this.#eventsUri) this.#deps.onEvents(this)
    })
    client.onerror = error => this.#log.debug('server_error', { error })
  }

  /** Of several that overlap the last one asked counts, and none of an earlier connection. */
  #refreshTools(client: Client): void {
    const listing = ++this.#listings
    readTools(client, { timeout: this.#deps.callTimeout, signal: this.#ended.signal }).then(
      tools => {
        if (listing !== this.#listings || this.#ended.signal.aborted) return
        this.#tools = tools
        this.#deps.onChange()
      },
      error => {
        if (isLost(error, this.spec)) this.#lose(client, error)
        else if (!this.#ended.signal.aborted) this.#log.warn('tools_not_listed', { error })
      },
    )
  }

  /** Reads what a broken stream may have told, and so finds out whether the server still knows this connection. */
  #catchUp(client: Client): void {
    if (this.#client !== client) return
    this.#refreshTools(client)
    if (this.#eventsUri) this.#deps.onEvents(this)
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
    const wait = decideBackoff(this.#failures, this.#deps.random)
    // Of a process that ended its own words say more than the connection that closed.
    const why = this.#goodbye ?? describeError(error)
    this.#log.warn('server_down', { error: why, retryInMs: wait })
    this.#become({ state: 'down', error: why, nextTryAt: this.#deps.clock.now() + wait })
    this.#cancelRetry = this.#deps.clock.after(wait, () => {
      this.#become({ state: 'starting', error: why })
      this.#connecting = this.#connect()
    })
  }

  #lose(client: Client, error: unknown): void {
    if (this.#client !== client || this.#ended.signal.aborted) return
    this.#client = undefined
    if (this.#deps.clock.monotonic() - this.#readyAt > STABLE_MS) this.#failures = 0
    this.#closing = close(client).catch(cause => this.#log.debug('close_failed', { error: cause }))
    this.#fail(error)
  }

  async #ready(signal?: AbortSignal): Promise<Client> {
    if (this.#status.state === 'starting') await this.untilSettled(signal)
    if (this.#client) return this.#client
    throw new HubError('unavailable', describeDown(this.spec.name, this.#status))
  }

  #connectDeps() {
    const { clock, eras, version, connectTimeout } = this.#deps
    const told = {
      onStderr: (line: string) => this.#log.debug('server_stderr', { line }),
      onGone: (why: string) => {
        this.#goodbye = why
      },
    }
    return { clock, eras, version, timeout: connectTimeout, told }
  }
}

/** Closes without being told of it again. */
async function close(client: Client): Promise<void> {
  delete client.onclose
  await client.close()
}

function describeDown(name: string, status: ConnectionState): string {
  if (status.state !== 'down') return `The server ${name} is still starting; try again in some seconds`
  return `The server ${name} is down: ${status.error}. The next try is at ${toIso(status.nextTryAt)}`
}
