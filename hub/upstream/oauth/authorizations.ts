import type { FetchLike } from '@modelcontextprotocol/client'
import { type Clock, timeoutSignal } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { toCanonicalJson } from '../../core/json.ts'
import type { Log } from '../../core/log.ts'
import { readWhole } from '../http/bounded-fetch.ts'
import { createPublicFetch, NotPublicError, type Target } from '../http/public-fetch.ts'
import type { HttpSpec, ServerSpec } from '../server-spec.ts'
import { Authorization } from './authorization.ts'
import type { CredentialStore } from './credentials.ts'
import { LoginFault } from './faults.ts'
import { createLogins, type Logins } from './logins.ts'

/** Milliseconds that an authorization server may take for one answer. */
const TIMEOUT_MS = 15_000

/** Milliseconds that the end of the hub waits for tokens in flight. */
const LAST_WORDS_MS = 4_000

/** The hub's logins at all servers over HTTP. The creator disposes of it. */
export interface Authorizations extends Pick<Logins, 'finish' | 'look'>, AsyncDisposable {
  /**
   * Returns the authorization that all connections to a server share; undefined for stdio, and for an entry
   * with its own `Authorization` header.
   */
  of(spec: ServerSpec): Authorization | undefined
  /** Begins a person's login. Throws `conflict` if the server has none, and as `Logins.begin` does. */
  begin(spec: ServerSpec, redirectUrl: string): Promise<{ state: string; url: string }>
  /** Forgets the login of a server, whether that runs or not; returns true if there was one. */
  forget(server: string): Promise<boolean>
}

export interface AuthorizationsDeps {
  clock: Clock
  log: Log
  credentials: CredentialStore
  /** Called when a server's login was made or forgotten. */
  onChange: (server: string) => void
}

export function createAuthorizations({
  clock,
  log,
  credentials: store,
  onChange,
}: AuthorizationsDeps): Authorizations {
  const logins = createLogins({ clock, log, onDone: onChange })
  const known = new Map<string, { key: string; authorization: Authorization }>()
  const of = (spec: ServerSpec) => {
    if (!isOverHttp(spec) || sendsItsOwn(spec)) return undefined
    const key = toCanonicalJson([spec.transport.url, spec.transport.oauth ?? {}])
    const before = known.get(spec.name)
    if (before?.key === key) return before.authorization
    const fetch = createLimitedFetch(clock, spec)
    const authorization = new Authorization(spec, { clock, log, store, fetch }, before?.authorization)
    known.set(spec.name, { key, authorization })
    return authorization
  }
  return {
    of,
    async begin(spec, redirectUrl) {
      const { name } = spec
      const authorization = of(spec)
      if (!authorization) {
        const why = isOverHttp(spec)
          ? 'it is sent the Authorization header of its entry: take that away to log in'
          : 'it is no server behind a url'
        throw new HubError('conflict', `Nobody can log in at ${name}: ${why}`)
      }
      if (authorization.settings.grant === 'client_credentials')
        throw new HubError('conflict', `Nobody has to log in at ${name}: its entry says client_credentials`)
      return logins.begin(authorization, redirectUrl)
    },
    finish: logins.finish,
    look: logins.look,
    async forget(server) {
      logins.cancel(server)
      known.get(server)?.authorization.retire({ forgets: true })
      known.delete(server)
      const wasThere = await store.forget(server)
      onChange(server)
      return wasThere
    },
    async [Symbol.asyncDispose]() {
      logins[Symbol.dispose]()
      const limit = Promise.withResolvers<void>()
      const cancel = clock.after(LAST_WORDS_MS, limit.resolve)
      const settled = Promise.all([...known.values()].map(({ authorization }) => authorization.settled()))
      await Promise.race([settled, limit.promise])
      cancel()
    },
  }
}

function isOverHttp(spec: ServerSpec): spec is HttpSpec {
  return spec.transport.kind === 'http'
}

function sendsItsOwn({ transport }: HttpSpec): boolean {
  return Object.keys(transport.headers).some(name => name.toLowerCase() === 'authorization')
}

/**
 * Creates a `fetch` for the addresses that a server names for its login. What answers there may be slow, may
 * answer anything, and is in no private network unless the server's entry names its host.
 */
function createLimitedFetch(clock: Clock, { transport }: HttpSpec): FetchLike {
  const send = createPublicFetch(toNamed(transport))
  return async (url, init) => {
    const limit = timeoutSignal(clock, TIMEOUT_MS, new URL(url).host)
    try {
      return await readWhole(await send(url, { ...init, signal: limit.signal }))
    } catch (error) {
      if (!(error instanceof NotPublicError)) throw error
      const line = `oauth: { hosts: ["${error.host}"] }`
      throw new LoginFault(`${error.message}, and its entry does not name it: add ${line} if it is yours`)
    } finally {
      limit.cancel()
    }
  }
}

/**
 * Returns whether an entry names a host. One that is named with https counts with https alone: its
 * certificate then shows that the name still leads to the same host.
 */
function toNamed({ url, oauth }: HttpSpec['transport']): (target: Target) => boolean {
  const { issuer = url, hosts = [] } = oauth ?? {}
  const named = [url, issuer, ...hosts.map(host => `http://${host}`)].map(one => new URL(one))
  return ({ protocol, hostname }) =>
    named.some(one => one.hostname === hostname && (protocol === 'https:' || one.protocol === 'http:'))
}
