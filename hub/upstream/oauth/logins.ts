import type { Clock } from '../../core/clock.ts'
import { describeError, HubError } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'
import type { Authorization } from './authorization.ts'
import { beginLogin, type Login } from './login.ts'

/** Milliseconds that a person may take for a login; its result is known for as long again. */
const LONGEST_MS = 10 * 60_000

/** The state of a login; `error` says why it failed. */
export type LoginState = { status: 'waiting' } | { status: 'done' } | { status: 'failed'; error: string }

/** The logins that people have begun. The creator disposes of it. */
export interface Logins extends Disposable {
  /**
   * Begins a login, in place of any earlier one for the server. Throws `unavailable` if nobody can log in.
   */
  begin(authorization: Authorization, redirectUrl: string): Promise<{ state: string; url: string }>
  /** Ends a login; resolves with its server's name. Throws `bad_request` that says what is wrong. */
  finish(answer: URLSearchParams): Promise<string>
  /** Returns the state of a login. Throws `not_found` for one that was never begun, or is long over. */
  look(state: string): LoginState
  /** Ends the waiting logins of a server. */
  cancel(server: string): void
}

export interface LoginsDeps {
  clock: Clock
  log: Log
  /** Called when a server has new tokens. */
  onDone: (server: string) => void
}

interface Entry {
  server: string
  login: Login
  state: LoginState
  /** True once somebody came back with it: a login counts once. */
  isTaken: boolean
  cancelTimer: () => void
}

export function createLogins({ clock, log, onDone }: LoginsDeps): Logins {
  const entries = new Map<string, Entry>()
  const fail = (entry: Entry, error: string) => {
    if (entry.state.status === 'waiting') entry.state = { status: 'failed', error }
  }
  const arm = (entry: Entry) => {
    entry.cancelTimer()
    entry.cancelTimer = clock.after(LONGEST_MS, () => {
      if (entry.state.status !== 'waiting') return void entries.delete(entry.login.state)
      fail(entry, 'Nobody came back within ten minutes: run the command again.')
      arm(entry)
    })
  }
  const cancel = (server: string) => {
    for (const entry of entries.values())
      if (entry.server === server) fail(entry, 'Another login or a logout took its place.')
  }
  return {
    async begin(authorization, redirectUrl) {
      const login = await beginLogin(authorization, redirectUrl)
      const server = authorization.spec.name
      cancel(server)
      const state = { status: 'waiting' as const }
      const entry: Entry = { server, login, state, isTaken: false, cancelTimer: () => undefined }
      entries.set(login.state, entry)
      arm(entry)
      return { state: login.state, url: login.url }
    },
    async finish(answer) {
      const entry = entries.get(answer.get('state') ?? '')
      if (entry?.state.status !== 'waiting' || entry.isTaken)
        throw new HubError('bad_request', 'This belongs to no login that anybody waits for: begin one again.')
      const { server, login } = entry
      entry.isTaken = true
      try {
        await login.finish(answer)
        entry.state = { status: 'done' }
        log.info('logged_in', { server })
        onDone(server)
        return server
      } catch (error) {
        entry.state = { status: 'failed', error: describeError(error) }
        log.warn('login_failed', { server, error })
        throw error
      }
    },
    look(state) {
      const entry = entries.get(state)
      if (!entry) throw new HubError('not_found', 'There is no such login; it may have taken too long.')
      return entry.state
    },
    cancel,
    [Symbol.dispose]() {
      for (const { cancelTimer } of entries.values()) cancelTimer()
      entries.clear()
    },
  }
}
