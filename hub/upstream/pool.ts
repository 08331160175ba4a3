import type { LoggingLevel } from '@modelcontextprotocol/client'
import { HubError } from '../core/errors.ts'
import type { ForwardOptions } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import { createRestartLimit, type RestartLimit } from './backoff.ts'
import { Connection, type ConnectionDeps } from './connection.ts'
import { createIsolated, type Requestable } from './isolated.ts'
import { type ServerSpec, specHash } from './server-spec.ts'

/** Milliseconds after which a replaced or removed connection ends, even if it is still in use. */
const LONGEST_DRAIN_MS = 24 * 60 * 60_000

/** Keeps one connection for each server that shall run. The creator disposes of it. */
export interface Pool extends AsyncDisposable {
  /**
   * Starts new servers, ends removed ones and replaces changed ones; the others go on. Waits for none. A
   * connection that ends takes no new use and reports no resource from then on; it closes after its last use:
   * each use has limits of its own.
   */
  apply(specs: readonly ServerSpec[]): void
  /**
   * Runs `run` with a server's connection or, if the server is isolated, with that of the session that
   * `options` name; the connection stays until `run` is over. Throws `not_found` for an unknown server.
   */
  use<Result>(
    name: string,
    run: (connection: Requestable) => Promise<Result>,
    options?: ForwardOptions,
  ): Promise<Result>
  /** Connects to a server anew, as if its spec had changed. */
  renew(name: string): void
  /** Asks all servers for log messages from this level on, over sessions' own and later connections too. */
  setLogLevel(level: LoggingLevel): void
  /** Tells all servers that a client's roots changed, over sessions' own connections too. */
  rootsChanged(): void
  /** Ends a session's own connections. */
  endSession(session: string): void
  /** Returns how many sessions have their own connection beside this one. */
  sessionsOf(connection: Connection): number
  /** The connections in the order of the specs; undefined before the first specs. */
  readonly all: readonly Connection[] | undefined
}

interface Entry {
  hash: string
  connection: Connection
  uses: number
  /** Called when the last use is over. */
  onIdle?: () => void
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

/** Creates connections. All of one server share a limit of restarts; later ones get the current log level. */
function createConnections(deps: ConnectionDeps, all: () => readonly Connection[]) {
  const limits = new Map<string, RestartLimit>()
  let logLevel: LoggingLevel | undefined
  return {
    create(spec: ServerSpec, own: Partial<ConnectionDeps>): Connection {
      const before = limits.get(spec.name)
      const restarts = before ?? createRestartLimit()
      limits.set(spec.name, restarts)
      const isAnew = before !== undefined
      const connection = new Connection(spec, { ...deps, ...own }, { restarts, isAnew })
      if (logLevel) connection.setLogLevel(logLevel)
      return connection
    },
    setLogLevel(level: LoggingLevel) {
      logLevel = level
      for (const connection of all()) connection.setLogLevel(level)
    },
    rootsChanged() {
      for (const connection of all()) connection.rootsChanged()
    },
  }
}

/** Tracks the connections that are being closed. */
function createEnding(log: Log) {
  const ending = new Set<Promise<void>>()
  return {
    add(name: string, connection: Connection) {
      const ended = connection[Symbol.asyncDispose]()
        .catch(error => log.error('server_not_ended', { server: name, error }))
        .finally(() => ending.delete(ended))
      ending.add(ended)
    },
    all: () => Promise.all(ending),
  }
}

export function createPool(deps: ConnectionDeps): Pool {
  const entries = new Map<string, Entry>()
  const draining = new Set<() => void>()
  const ending = createEnding(deps.log)
  let wanted: readonly ServerSpec[] | undefined
  let disposed = false

  // A connection that is ending must not read the events that its replacement reads.
  const onEvents = (connection: Connection) => {
    if (entries.get(connection.spec.name)?.connection === connection) deps.onEvents(connection)
  }
  const all = () => [...Array.from(entries.values(), ({ connection }) => connection), ...isolated.all]
  const { create, ...telling } = createConnections(deps, all)
  const isolated = createIsolated({ ...deps, create: ({ spec }) => create(spec, toOwnEvents(deps)) })
  const end = (name: string, { connection }: Entry) => {
    isolated.endBeside(connection)
    ending.add(name, connection)
  }
  const drain = (name: string, entry: Entry) => {
    entries.delete(name)
    if (entry.uses === 0) return end(name, entry)
    entry.connection.subscribe(new Set())
    deps.log.info('server_drains', { server: name, uses: entry.uses })
    const finish = () => {
      if (!draining.delete(finish)) return
      cancel()
      end(name, entry)
    }
    const cancel = deps.clock.after(LONGEST_DRAIN_MS, finish)
    entry.onIdle = finish
    draining.add(finish)
  }
  const apply = (specs: readonly ServerSpec[]) => {
    // A change of the config may still be on its way when the hub stops.
    if (disposed) return
    wanted = specs
    const hashes = new Map(specs.map(spec => [spec.name, specHash(spec)]))
    for (const [name, entry] of [...entries]) if (hashes.get(name) !== entry.hash) drain(name, entry)
    for (const spec of specs.filter(({ name }) => !entries.has(name))) {
      entries.set(spec.name, { hash: specHash(spec), connection: create(spec, { onEvents }), uses: 0 })
    }
  }
  return {
    apply,
    renew(name) {
      const entry = entries.get(name)
      if (entry) entry.hash = ''
      if (entry && wanted) apply(wanted)
    },
    ...telling,
    endSession: isolated.endSession,
    sessionsOf: isolated.count,
    async use(name, run, options) {
      const entry = entries.get(name)
      if (!entry) throw new HubError('not_found', `There is no server ${name}`)
      const { connection } = entry
      const session = options?.session ?? options?.asker?.key
      const own = connection.spec.isolated && session !== undefined
      entry.uses++
      try {
        return await run(own ? isolated.of(connection, session) : connection)
      } finally {
        entry.uses--
        if (entry.uses === 0) entry.onIdle?.()
      }
    },
    get all() {
      return wanted?.flatMap(({ name }) => entries.get(name)?.connection ?? [])
    },
    async [Symbol.asyncDispose]() {
      disposed = true
      for (const finish of [...draining]) finish()
      for (const [name, entry] of [...entries]) end(name, entry)
      entries.clear()
      await Promise.all([ending.all(), isolated[Symbol.asyncDispose]()])
    },
  }
}
