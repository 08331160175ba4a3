import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { Connection } from './connection.ts'

/** Milliseconds without use after which a session's own connection ends. */
const IDLE_MS = 10 * 60_000
/** The most sessions that may have their own connection to one server. */
const MOST_SESSIONS = 16

/** The members of a connection that a request needs. */
export type Requestable = Pick<Connection, 'request' | 'capabilities'>

/** Gives sessions their own connections to servers that keep state per user. The creator disposes of it. */
export interface Isolated extends AsyncDisposable {
  /**
   * Returns the session's own connection beside the shared one. Its first request opens it, and throws
   * `unavailable` if too many sessions have one.
   */
  of(shared: Connection, session: string): Requestable
  /** Ends the connections of a session. */
  endSession(session: string): void
  /** Ends the sessions' connections beside a shared one. */
  endBeside(shared: Connection): void
  readonly all: readonly Connection[]
  /** Returns how many sessions have a connection beside a shared one. */
  count(shared: Connection): number
}

export interface IsolatedDeps {
  clock: Clock
  log: Log
  /** Creates one more connection to the same server. */
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
