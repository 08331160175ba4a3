import {
  computeScopeUnion,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type FetchLike,
  isStrictScopeSuperset,
  OAuthErrorCode,
  type OAuthServerInfo,
  type StoredOAuthClientInformation,
} from '@modelcontextprotocol/client'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { HttpSpec, OAuthSettings } from '../server-spec.ts'
import type { CredentialStore, Credentials } from './credentials.ts'
import { decideClient } from './decide-client.ts'
import { describeFault, LoginFault, NeedsLogin } from './faults.ts'
import { isRefusal, type Renewed, renewTokens } from './renew.ts'

/** Milliseconds before their end at which tokens are renewed, at most the last tenth of their time. */
const EARLY_MS = 60_000
/** Milliseconds for which tokens that are still good are used after an early renewal failed. */
const AGAIN_MS = 10_000

export interface AuthorizationDeps {
  clock: Clock
  log: Log
  store: CredentialStore
  /** Fetches metadata and tokens. */
  fetch: FetchLike
}

/** A server's refusal of a request. */
export interface Refusal {
  status: number
  /** The `WWW-Authenticate` header. */
  authenticate: string | undefined
  /** The bearer token that the request carried; undefined for none. */
  used: string | undefined
  /** True for the second refusal: what was renewed after the first one did not help. */
  again: boolean
}

/** The credentials for one server. The authorizations that follow each other with its entry share them. */
interface Login {
  /** Credentials in use, which are on the disk. */
  kept: Credentials | undefined
  /** The same, or those that are on their way to the disk. */
  newest: Credentials | undefined
  renewing: Promise<void> | undefined
  /** True once it was forgotten: nothing of it goes to the disk any more. */
  isForgotten: boolean
}

/** The hub's login at one server over HTTP. All connections to that server share it. */
export class Authorization {
  readonly spec: HttpSpec
  readonly #deps: AuthorizationDeps
  readonly #log: Log
  readonly #login: Login
  /** True if people can log in there; undefined until that was looked up. */
  #hasLogin: boolean | undefined
  #metadataUrl: URL | undefined
  #wanted: string | undefined
  #isRetired = false

  /** `before`, which it takes the place of, uses up no refresh token from now on. */
  constructor(spec: HttpSpec, deps: AuthorizationDeps, before?: Authorization) {
    this.spec = spec
    this.#deps = deps
    this.#log = deps.log.with({ server: spec.name })
    const isSameServer = before?.spec.transport.url === spec.transport.url
    this.#login = before && isSameServer ? before.#login : this.#readLogin()
    before?.retire({ forgets: !isSameServer })
  }

  /** The bearer token; undefined without a login. */
  get bearer(): string | undefined {
    return this.#login.kept?.tokens?.access_token
  }

  /** Fetches metadata and tokens from the addresses that the server names. */
  get fetch(): FetchLike {
    return this.#deps.fetch
  }

  get settings(): Partial<OAuthSettings> {
    return this.spec.transport.oauth ?? {}
  }

  /** The redirect URL with which the hub registered itself. */
  get redirectUrl(): string | undefined {
    return this.#login.kept?.redirectUrl
  }

  /** The scope of the next login: the entry's, that of the last login, and what was refused since. */
  get scope(): string | undefined {
    return computeScopeUnion(this.settings.scope, this.#login.kept?.tokens?.scope, this.#wanted)
  }

  /** Renews tokens that are about to end; undefined if there is nothing to wait for. Throws `NeedsLogin`. */
  fresh(): Promise<void> | undefined {
    const { renewAt } = this.#login.kept ?? {}
    if (renewAt === undefined || renewAt > this.#deps.clock.now() || !this.#canRenew) return undefined
    return this.#renew().catch(error => {
      if (error instanceof NeedsLogin) throw error
      this.#log.warn('login_not_renewed', { error })
      const { kept, newest } = this.#login
      if (!kept || newest !== kept) return
      this.#login.newest = { ...kept, renewAt: this.#deps.clock.now() + AGAIN_MS }
      this.#login.kept = this.#login.newest
    })
  }

  /**
   * Decides about a refused request: returns true to make it again, false if a login is not the matter.
   * Throws `NeedsLogin`, and `LoginFault` if a login would not help or could not be renewed.
   */
  async refused({ status, authenticate, used, again }: Refusal): Promise<boolean> {
    const challenge = readChallenge(authenticate)
    if (status === 403 && challenge.error === 'insufficient_scope') return this.#widen(challenge.scope, again)
    if (status !== 401) return false
    this.#metadataUrl = challenge.resourceMetadataUrl ?? this.#metadataUrl
    this.#wanted = computeScopeUnion(this.#wanted, challenge.scope)
    if (!again && this.bearer !== undefined && this.bearer !== used) return true
    if (!again && this.#canRenew) {
      await this.#renew()
      return true
    }
    if (this.#isByItself || !(await this.#mayLogIn(challenge.resourceMetadataUrl))) return false
    throw new NeedsLogin(this.spec.name, this.bearer === undefined ? '' : ' (the last one is over)')
  }

  /** Finds where people and programs log in for this server. Throws what is wrong with its metadata. */
  discover(): Promise<OAuthServerInfo> {
    return discoverOAuthServerInfo(this.spec.transport.url, {
      ...(this.#metadataUrl ? { resourceMetadataUrl: this.#metadataUrl } : {}),
      fetchFn: this.#deps.fetch,
    })
  }

  /** Returns the hub's client at `issuer`, as `decideClient` does. */
  clientAt(issuer: string): StoredOAuthClientInformation | undefined {
    return decideClient(this.settings, this.#login.kept?.client, issuer)
  }

  /** Saves the tokens of a login, and then takes them. */
  async adopt({ tokens, ...login }: Renewed): Promise<void> {
    const { url } = this.spec.transport
    const { expires_in: seconds } = tokens
    const now = this.#deps.clock.now()
    const lasts = (seconds ?? 0) * 1000
    await this.#keep({
      ...login,
      url,
      tokens: { ...tokens, issuer: login.client.issuer },
      ...(lasts > 0 ? { renewAt: now + lasts - Math.min(EARLY_MS, lasts / 10) } : {}),
    })
  }

  /** Resolves once no renewal is in flight; the tokens of one that nobody waits for are lost. */
  async settled(): Promise<void> {
    await this.#login.renewing?.catch(() => undefined)
  }

  /** Ends it: from now on it uses up no refresh token. If it `forgets`, it changes nothing on the disk. */
  retire({ forgets }: { forgets: boolean }): void {
    this.#isRetired = true
    if (forgets) this.#login.isForgotten = true
  }

  get isRetired(): boolean {
    return this.#isRetired
  }

  #readLogin(): Login {
    const kept = this.#deps.store.read(this.spec.name, this.spec.transport.url)
    return { kept, newest: kept, renewing: undefined, isForgotten: false }
  }

  get #isByItself(): boolean {
    return this.settings.grant === 'client_credentials'
  }

  get #canRenew(): boolean {
    return !this.#isRetired && (this.#isByItself || this.#login.kept?.tokens?.refresh_token !== undefined)
  }

  /** Renews the tokens, once for all requests that wait. */
  #renew(): Promise<void> {
    this.#login.renewing ??= this.#renewNow().finally(() => {
      this.#login.renewing = undefined
    })
    return this.#login.renewing
  }

  async #renewNow(): Promise<void> {
    const { kept } = this.#login
    const { name, transport } = this.spec
    try {
      const renewed = await renewTokens(this.#isByItself ? undefined : kept, {
        name,
        url: transport.url,
        discover: () => this.discover(),
        clientAt: issuer => this.clientAt(issuer),
        scope: this.scope,
        fetch: this.#deps.fetch,
      })
      // A login that came meanwhile is newer than the renewal.
      if (this.#login.newest === kept) await this.adopt(renewed)
      this.#log.info('login_renewed')
    } catch (error) {
      throw await this.#toFault(error, kept)
    }
  }

  async #toFault(error: unknown, kept: Credentials | undefined): Promise<unknown> {
    if (error instanceof LoginFault) return error
    const { access_token, refresh_token } = kept?.tokens ?? {}
    const secrets = [this.settings.clientSecret, kept?.client.client_secret, access_token, refresh_token]
    const why = describeFault(error, secrets)
    if (!isRefusal(error)) return new LoginFault(`its login could not be renewed: ${why}`)
    if (this.#isByItself)
      return new LoginFault(`its authorization server refuses the client (oauth in its entry): ${why}`)
    this.#log.warn('login_refused', { error: why })
    if (kept && this.#login.newest === kept)
      await this.#leave(kept, error.code === OAuthErrorCode.InvalidClient)
    return new NeedsLogin(this.spec.name, ` (renewing the last one was refused: ${why})`)
  }

  /** Drops the refused tokens, and the client too if that was refused. */
  #leave({ tokens: _, renewAt: __, ...rest }: Credentials, isClientGone: boolean): Promise<void> {
    return this.#keep(isClientGone ? undefined : rest)
  }

  /** Saves credentials, then keeps them; if they cannot be saved, they are good for as long as the hub runs. */
  async #keep(kept: Credentials | undefined): Promise<void> {
    this.#login.newest = kept
    try {
      await this.#save(kept)
    } catch (error) {
      this.#log.error('login_not_saved', { error })
    }
    if (this.#login.newest === kept) this.#login.kept = kept
  }

  async #save(kept: Credentials | undefined): Promise<void> {
    const { store } = this.#deps
    if (this.#login.isForgotten) return
    if (kept) await store.save(this.spec.name, kept)
    else await store.forget(this.spec.name)
  }

  /** Handles a request beyond the login. A refresh brings at most what a person agreed to (RFC 6749, 6). */
  async #widen(scope: string | undefined, again: boolean): Promise<boolean> {
    const granted = this.#login.kept?.tokens?.scope
    const isMore = isStrictScopeSuperset(computeScopeUnion(granted, scope), granted)
    this.#wanted = computeScopeUnion(this.#wanted, scope)
    if (isMore && !again && this.#isByItself) {
      await this.#renew()
      return true
    }
    const what = scope === undefined ? '' : ` (${scope})`
    if (!isMore || this.#isByItself)
      throw new LoginFault(`the server refuses this although its login has what it asks for${what}`)
    throw new LoginFault(`this wants a wider login${what}: run superbloom servers login ${this.spec.name}`)
  }

  async #mayLogIn(metadataUrl: URL | undefined): Promise<boolean> {
    if (metadataUrl) return true
    if (this.#hasLogin !== undefined) return this.#hasLogin
    try {
      const { resourceMetadata, authorizationServerMetadata } = await this.discover()
      const hasLogin = (resourceMetadata ?? authorizationServerMetadata) !== undefined
      this.#hasLogin = hasLogin
      return hasLogin
    } catch (error) {
      throw new LoginFault('it wants a login, and does not say where', { cause: error })
    }
  }
}

function readChallenge(authenticate: string | undefined): ReturnType<typeof extractWWWAuthenticateParams> {
  if (authenticate === undefined) return {}
  return extractWWWAuthenticateParams(new Response(null, { headers: { 'WWW-Authenticate': authenticate } }))
}
