import type { LoggingLevel } from '@modelcontextprotocol/client'
import { HubError } from '../core/errors.ts'
import type { ForwardOptions } from '../core/forwarding.ts'
import { Connection, type ConnectionDeps } from './connection.ts'
import { createRestartLimit, type RestartLimit } from './restarts.ts'
import { ServerLog, type ServerLogLine } from './server-log.ts'
import { type ServerSpec, specHash } from './server-spec.ts'

/** Milliseconds without use after which a session's own connection ends. */
const IDLE_MS = 10 * 60_000
/** The most sessions that may have their own connection to one server. */
const MOST_SESSIONS = 16
/** Milliseconds after which a replaced or removed connection ends, even if it is still in use. */
const LONGEST_DRAIN_MS = 24 * 60 * 60_000

/** The members of a connection that a request needs. */
export type Requestable = Pick<Connection, 'request' | 'capabilities'>

/** A session's own connection to an isolated server. */
interface OwnConnection {
  connection: Connection
  uses: number
  cancelIdle: () => void
}

/** The connection to one server, and those of sessions beside it. */
interface Entry {
  hash: string
  connection: Connection
  uses: number
  /** Called when the last use is over. */
  onIdle?: () => void
  own: Map<string, OwnConnection>
}

/**
 * Returns the hooks of a session's own connection. The shared one reports the same, except the end of an
 * elicitation by URL, which is passed on by its id. Log messages outside of a call are dropped: they are for
 * nobody else.
 */
function toOwnEvents({ onNotice }: ConnectionDeps): Partial<ConnectionDeps> {
  return {
    onChange: () => undefined,
    onEvents: () => undefined,
    onUpdated: () => undefined,
    onNotice: (server, method, params) => {
      if (method === 'notifications/elicitation/complete') onNotice(server, method, params)
    },
  }
}

/** Keeps one connection for each server that shall run. The creator disposes of it. */
export class Pool implements AsyncDisposable {
  readonly #deps: ConnectionDeps
  readonly #entries = new Map<string, Entry>()
  /** The entries that finish their last uses, each with the function that ends it now. */
  readonly #draining = new Map<Entry, () => void>()
  readonly #ending = new Set<Promise<void>>()
  /** The limits that all connections of one server share, by its name. */
  readonly #limits = new Map<string, RestartLimit>()
  /** The logs of all servers that ran, by name. */
  readonly #logs = new Map<string, ServerLog>()
  #wanted: readonly ServerSpec[] | undefined
  #logLevel: LoggingLevel | undefined
  #isDisposed = false

  constructor(deps: ConnectionDeps) {
    this.#deps = deps
  }

  /** The connections in the order of the specs; undefined before the first specs. */
  get all(): readonly Connection[] | undefined {
    return this.#wanted?.flatMap(({ name }) => this.#entries.get(name)?.connection ?? [])
  }

  /**
   * Starts new servers, ends removed ones and replaces changed ones; the others go on. Waits for none. A
   * connection that ends takes no new use and reports no resource from then on; it closes after its last use:
   * each use has limits of its own.
   */
  apply(specs: readonly ServerSpec[]): void {
    // A change of the config may still be on its way when the hub stops.
    if (this.#isDisposed) return
    this.#wanted = specs
    const hashes = new Map(specs.map(spec => [spec.name, specHash(spec)]))
    for (const [name, entry] of [...this.#entries])
      if (hashes.get(name) !== entry.hash) this.#drain(name, entry)
    // A connection that is ending must not read the events that its replacement reads.
    const onEvents = (connection: Connection) => {
      if (this.#entries.get(connection.spec.name)?.connection === connection) this.#deps.onEvents(connection)
    }
    for (const spec of specs.filter(({ name }) => !this.#entries.has(name))) {
      const connection = this.#create(spec, { onEvents })
      this.#entries.set(spec.name, { hash: specHash(spec), connection, uses: 0, own: new Map() })
    }
  }

  /**
   * Runs `run` with a server's connection or, if the server is isolated, with that of the session that
   * `options` name, which the first request opens; the connection stays until `run` is over. Throws
   * `not_found` for an unknown server; a request throws `unavailable` if too many sessions have their own.
   */
  async use<Result>(
    name: string,
    run: (connection: Requestable) => Promise<Result>,
    options?: ForwardOptions,
  ): Promise<Result> {
    const entry = this.#entries.get(name)
    if (!entry) throw new HubError('not_found', `There is no server ${name}`)
    const session = options?.session ?? options?.requester?.key
    const isOwn = entry.connection.spec.isolated && session !== undefined
    entry.uses++
    try {
      return await run(isOwn ? this.#ownOf(entry, session) : entry.connection)
    } finally {
      if (--entry.uses === 0) entry.onIdle?.()
    }
  }

  /** Connects to a server anew, as if its spec had changed. */
  renew(name: string): void {
    const entry = this.#entries.get(name)
    if (entry) entry.hash = ''
    if (entry && this.#wanted) this.apply(this.#wanted)
  }

  /** Asks all servers for log messages from this level on, over sessions' own and later connections too. */
  setLogLevel(level: LoggingLevel): void {
    this.#logLevel = level
    for (const connection of this.#everyOne()) connection.setLogLevel(level)
  }

  /** Tells all servers that a client's roots changed, over sessions' own connections too. */
  rootsChanged(): void {
    for (const connection of this.#everyOne()) connection.rootsChanged()
  }

  /** Returns the end of a server's log; empty if it never ran. */
  logOf(name: string): readonly ServerLogLine[] {
    return this.#logs.get(name)?.lines ?? []
  }

  /** Ends a session's own connections. */
  endSession(session: string): void {
    for (const entry of [...this.#entries.values(), ...this.#draining.keys()]) this.#endOwn(entry, session)
  }

  /** Returns how many sessions have their own connection beside the shared one. */
  sessionsOf({ spec }: Connection): number {
    return this.#entries.get(spec.name)?.own.size ?? 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    for (const finish of [...this.#draining.values()]) finish()
    for (const entry of this.#entries.values()) this.#end(entry)
    this.#entries.clear()
    await Promise.all(this.#ending)
  }

  #create(spec: ServerSpec, events: Partial<ConnectionDeps>): Connection {
    const before = this.#limits.get(spec.name)
    const restarts = before ?? createRestartLimit()
    this.#limits.set(spec.name, restarts)
    const deps = { ...this.#deps, ...events }
    const log = this.#logs.get(spec.name) ?? new ServerLog()
    this.#logs.set(spec.name, log)
    const connection = new Connection(spec, deps, { restarts, isAnew: before !== undefined, log })
    if (this.#logLevel) connection.setLogLevel(this.#logLevel)
    return connection
  }

  /** Returns a session's own connection beside the shared one; its first request opens it. */
  #ownOf(entry: Entry, session: string): Requestable {
    const { connection, own } = entry
    return {
      capabilities: connection.capabilities,
      request: async (method, params, options) => {
        if (!own.has(session) && own.size >= MOST_SESSIONS) throw tooMany(connection.spec.name)
        const found = own.get(session) ?? {
          connection: this.#create(connection.spec, toOwnEvents(this.#deps)),
          uses: 0,
          cancelIdle: () => undefined,
        }
        own.set(session, found)
        found.cancelIdle()
        found.uses++
        try {
          return await found.connection.request(method, params, options)
        } finally {
          if (--found.uses === 0 && own.get(session) === found)
            found.cancelIdle = this.#deps.clock.after(IDLE_MS, () => this.#endOwn(entry, session))
        }
      },
    }
  }

  /** Ends an entry after its last use. */
  #drain(name: string, entry: Entry): void {
    this.#entries.delete(name)
    if (entry.uses === 0) {
      this.#end(entry)
      return
    }
    entry.connection.subscribe(new Set())
    this.#deps.log.info('server_drains', { server: name, uses: entry.uses })
    const finish = () => {
      if (!this.#draining.delete(entry)) return
      cancel()
      this.#end(entry)
    }
    const cancel = this.#deps.clock.after(LONGEST_DRAIN_MS, finish)
    entry.onIdle = finish
    this.#draining.set(entry, finish)
  }

  #end(entry: Entry): void {
    for (const session of [...entry.own.keys()]) this.#endOwn(entry, session)
    this.#close(entry.connection)
  }

  #endOwn({ own }: Entry, session: string): void {
    const found = own.get(session)
    if (!found) return
    own.delete(session)
    found.cancelIdle()
    this.#close(found.connection)
  }

  #close(connection: Connection): void {
    const ended = connection[Symbol.asyncDispose]()
      .catch(error => this.#deps.log.error('server_not_ended', { server: connection.spec.name, error }))
      .finally(() => this.#ending.delete(ended))
    this.#ending.add(ended)
  }

  /** Returns all connections, also those of sessions, and of servers that finish their last uses. */
  #everyOne(): Connection[] {
    return [...this.#entries.values(), ...this.#draining.keys()].flatMap(({ connection, own }) => [
      connection,
      ...Array.from(own.values(), one => one.connection),
    ])
  }
}

function tooMany(server: string): HubError {
  return new HubError(
    'unavailable',
    `${MOST_SESSIONS} sessions have a process of their own of the server ${server}, which is the most. One ends when its client leaves, or after 10 minutes without a call.`,
  )
}
