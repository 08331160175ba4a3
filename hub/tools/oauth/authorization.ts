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
import { describeFault } from './describe-fault.ts'
import { LoginFault, NeedsLogin } from './faults.ts'
import { isRefusal, type Renewed, renewTokens } from './renew.ts'

/** Tokens are renewed so long before they end, or in the last tenth of their time where that is shorter. */
const EARLY_MS = 60_000
/** After a renewal ahead of time failed, the tokens that are still good are used for so long. */
const AGAIN_MS = 10_000

export interface AuthorizationDeps {
  clock: Clock
  log: Log
  store: CredentialStore
  /** For metadata and tokens. */
  fetch: FetchLike
}

/** How a server refused a request. */
export interface Refusal {
  status: number
  /** Its `WWW-Authenticate`. */
  authenticate: string | undefined
  /** What the request was let in with; undefined for nothing. */
  used: string | undefined
  /** It is the second one: what was renewed for it did not help. */
  again: boolean
}

/** What the hub shows one server over HTTP to be let in. All connections to that server share it. */
export class Authorization {
  readonly spec: HttpSpec
  readonly #deps: AuthorizationDeps
  readonly #log: Log
  #kept: Credentials | undefined
  #renewing: Promise<void> | undefined
  /** Whether people can log in there; undefined until that was looked for. */
  #hasLogin: boolean | undefined
  #metadataUrl: URL | undefined
  #wanted: string | undefined
  #retired = false
  #heir: Authorization | undefined
  /** Renewals of who was here before. */
  #inheritance: Promise<void> | undefined

  constructor(spec: HttpSpec, deps: AuthorizationDeps) {
    this.spec = spec
    this.#deps = deps
    this.#log = deps.log.with({ server: spec.name })
    try {
      this.#kept = deps.store.read(spec.name, spec.transport.url)
    } catch (error) {
      // It asks for a login then, and the others go on.
      this.#log.error('login_not_read', { error })
    }
  }

  /** What stands behind `Bearer`; undefined where there is no login. */
  get bearer(): string | undefined {
    return this.#kept?.tokens?.access_token
  }

  get settings(): Partial<OAuthSettings> {
    return this.spec.transport.oauth ?? {}
  }

  /** Where people come back to, as the hub said when it registered itself. */
  get redirectUrl(): string | undefined {
    return this.#kept?.redirectUrl
  }

  /** What the next login asks for: what the entry says, what the last one got, and what was refused since. */
  get scope(): string | undefined {
    return computeScopeUnion(this.settings.scope, this.#kept?.tokens?.scope, this.#wanted)
  }

  /** Renews tokens that are about to end; undefined where there is nothing to wait for. Throws `NeedsLogin`. */
  fresh(): Promise<void> | undefined {
    const { renewAt } = this.#kept ?? {}
    if (renewAt === undefined || renewAt > this.#deps.clock.now() || !this.#canRenew) return undefined
    return this.#renew().catch(error => {
      if (error instanceof NeedsLogin) throw error
      this.#log.warn('login_not_renewed', { error })
      if (this.#kept) this.#kept = { ...this.#kept, renewAt: this.#deps.clock.now() + AGAIN_MS }
    })
  }

  /**
   * What to do about a refused request: true to make it again, false where it is no matter of a login. Throws
   * `NeedsLogin`, and `LoginFault` where a login would not help or could not be renewed.
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

  /** Where people and programs log in for this server. Throws what is wrong with what its metadata says. */
  discover(): Promise<OAuthServerInfo> {
    return discoverOAuthServerInfo(this.spec.transport.url, {
      ...(this.#metadataUrl ? { resourceMetadataUrl: this.#metadataUrl } : {}),
      fetchFn: this.#deps.fetch,
    })
  }

  /** As `decideClient`. */
  clientAt(issuer: string): StoredOAuthClientInformation | undefined {
    return decideClient(this.settings, this.#kept?.client, issuer)
  }

  /** Takes what a login brought, and writes it down. */
  adopt({ tokens, ...login }: Renewed): void {
    const { url } = this.spec.transport
    const { expires_in: seconds } = tokens
    const now = this.#deps.clock.now()
    const lasts = (seconds ?? 0) * 1000
    this.#keep({
      ...login,
      url,
      tokens: { ...tokens, issuer: login.client.issuer },
      ...(lasts > 0 ? { renewAt: now + lasts - Math.min(EARLY_MS, lasts / 10) } : {}),
    })
  }

  /** Resolves once no renewal is on its way: what it brings is lost to who does not wait. */
  async settled(): Promise<void> {
    await this.#inheritance
    await this.#renewing?.catch(() => undefined)
  }

  /**
   * Another one, or none, took its place: it changes nothing on the disk, and uses up no refresh token, from now on. An
   * heir, who is at the same address, gets what a renewal brings that is on its way.
   */
  retire(heir?: Authorization): void {
    this.#retired = true
    this.#heir = heir
    if (heir) heir.#inheritance = this.settled()
  }

  get isRetired(): boolean {
    return this.#retired
  }

  get #isByItself(): boolean {
    return this.settings.grant === 'client_credentials'
  }

  get #canRenew(): boolean {
    return !this.#retired && (this.#isByItself || this.#kept?.tokens?.refresh_token !== undefined)
  }

  /** However many requests wait for it, there is one renewal. */
  #renew(): Promise<void> {
    this.#renewing ??= this.#renewNow().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  #inherit(before: Credentials | undefined, renewed: Renewed): void {
    if (this.bearer !== before?.tokens?.access_token) return
    this.adopt(renewed)
    const heir = this.#heir
    if (heir) heir.#inherit(before, renewed)
  }

  async #renewNow(): Promise<void> {
    const before = this.bearer
    await this.#inheritance
    if (this.bearer !== before) return
    const kept = this.#kept
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
      // A login that came meanwhile is the newer one.
      if (this.#kept === kept) this.#inherit(kept, renewed)
      this.#log.info('login_renewed')
    } catch (error) {
      throw this.#toFault(error, kept)
    }
  }

  #toFault(error: unknown, kept: Credentials | undefined): unknown {
    if (error instanceof LoginFault) return error
    const { access_token, refresh_token } = kept?.tokens ?? {}
    const secrets = [this.settings.clientSecret, kept?.client.client_secret, access_token, refresh_token]
    const why = describeFault(error, secrets)
    if (!isRefusal(error)) return new LoginFault(`its login could not be renewed: ${why}`)
    if (this.#isByItself)
      return new LoginFault(`its authorization server refuses the client (oauth in its entry): ${why}`)
    this.#log.warn('login_refused', { error: why })
    if (kept && this.#kept === kept) this.#leave(kept, error.code === OAuthErrorCode.InvalidClient)
    return new NeedsLogin(this.spec.name, ` (renewing the last one was refused: ${why})`)
  }

  /** Without the tokens that were refused, and without the client where that was. */
  #leave({ tokens: _, renewAt: __, ...rest }: Credentials, isClientGone: boolean): void {
    this.#keep(isClientGone ? undefined : rest)
  }

  /** What cannot be written down is good for as long as the hub runs. */
  #keep(kept: Credentials | undefined): void {
    this.#kept = kept
    if (this.#retired) return
    const { store } = this.#deps
    try {
      if (kept) store.save(this.spec.name, kept)
      else store.forget(this.spec.name)
    } catch (error) {
      this.#log.error('login_not_saved', { error })
    }
  }

  /** A request that wants more than the login allows. A refresh brings at most what a person agreed to (RFC 6749, 6). */
  async #widen(scope: string | undefined, again: boolean): Promise<boolean> {
    const granted = this.#kept?.tokens?.scope
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
