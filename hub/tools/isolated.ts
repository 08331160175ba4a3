import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { Connection } from './connection.ts'

/** A session's own connection to a server ends when nobody used it for so long. */
const IDLE_MS = 10 * 60_000
/** So many sessions may have a connection of their own to one server. */
const MOST_SESSIONS = 16

/** What a request needs of a connection. */
export type Requestable = Pick<Connection, 'request' | 'capabilities'>

/** Connections of sessions' own, for servers that keep state for whoever uses them. Who makes it disposes of it. */
export interface Isolated extends AsyncDisposable {
  /**
   * The session's own connection beside the one that lists. The first request starts it; that throws `unavailable`
   * where too many sessions have one.
   */
  of(shared: Connection, session: string): Requestable
  /** Ends what a session has. */
  endSession(session: string): void
  /** Ends what sessions have beside a connection. */
  endBeside(shared: Connection): void
  readonly all: readonly Connection[]
  /** How many sessions have one beside it. */
  count(shared: Connection): number
}

export interface IsolatedDeps {
  clock: Clock
  log: Log
  /** One more connection to the same server. */
  create: (shared: Connection) => Connection
}

interface Entry {
  shared: Connection
  session: string
  connection: Connection
  /** Requests in flight. */
  open: number
  cancelIdle: () => void
}

export function createIsolated({ clock, log, create }: IsolatedDeps): Isolated {
  const entries = new Set<Entry>()
  const ending = new Set<Promise<void>>()

  const end = (entry: Entry) => {
    if (!entries.delete(entry)) return
    entry.cancelIdle()
    const ended = entry.connection[Symbol.asyncDispose]()
      .catch(error => log.error('server_not_ended', { server: entry.shared.spec.name, error }))
      .finally(() => ending.delete(ended))
    ending.add(ended)
  }
  const beside = (shared: Connection) => [...entries].filter(entry => entry.shared === shared)
  const start = (shared: Connection, session: string): Entry => {
    if (beside(shared).length >= MOST_SESSIONS) throw tooMany(shared.spec.name)
    const entry = { shared, session, connection: create(shared), open: 0, cancelIdle: () => undefined }
    entries.add(entry)
    return entry
  }
  const leave = (entry: Entry) => {
    entry.open--
    if (entry.open === 0 && entries.has(entry)) entry.cancelIdle = clock.after(IDLE_MS, () => end(entry))
  }
  return {
    of: (shared, session) => ({
      capabilities: shared.capabilities,
      async request(method, params, options) {
        const entry = beside(shared).find(one => one.session === session) ?? start(shared, session)
        entry.cancelIdle()
        entry.open++
        try {
          return await entry.connection.request(method, params, options)
        } finally {
          leave(entry)
        }
      },
    }),
    endSession(session) {
      for (const entry of [...entries]) if (entry.session === session) end(entry)
    },
    endBeside(shared) {
      for (const entry of beside(shared)) end(entry)
    },
    get all() {
      return [...entries].map(({ connection }) => connection)
    },
    count: shared => beside(shared).length,
    async [Symbol.asyncDispose]() {
      for (const entry of [...entries]) end(entry)
      await Promise.all(ending)
    },
  }
}

function tooMany(server: string): HubError {
  return new HubError(
    'unavailable',
    `${MOST_SESSIONS} sessions have a process of their own of the server ${server}, which is the most. One ends when its client leaves, or after 10 minutes without a call.`,
  )
}
