import {
  type FetchLike,
  OAuthError,
  OAuthErrorCode,
  type OAuthServerInfo,
  type OAuthTokens,
  refreshAuthorization,
  type StoredOAuthClientInformation,
} from '@modelcontextprotocol/client'
import { requestOwnTokens } from './client-credentials.ts'
import type { Credentials } from './credentials.ts'
import { isSameIssuer } from './decide-client.ts'
import { NeedsLogin } from './faults.ts'

/** What the authorization server will not say otherwise another time. */
const REFUSALS: ReadonlySet<string> = new Set([
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
  OAuthErrorCode.UnsupportedGrantType,
  OAuthErrorCode.InvalidScope,
  OAuthErrorCode.InvalidTarget,
  OAuthErrorCode.AccessDenied,
])

export interface RenewDeps {
  /** Of the server, and its address. */
  name: string
  url: string
  discover: () => Promise<OAuthServerInfo>
  clientAt: (issuer: string) => StoredOAuthClientInformation | undefined
  /** What to ask for where the client logs in by itself. */
  scope: string | undefined
  fetch: FetchLike
}

/** A login with its tokens as the authorization server gave them. */
export type Renewed = Pick<Credentials, 'client' | 'resource' | 'redirectUrl'> & { tokens: OAuthTokens }

/**
 * New tokens: by the refresh token of a person's login, or, without one, by the client's own right. Throws what the
 * authorization server says, and `NeedsLogin` where it is not the one that knows the login.
 */
export async function renewTokens(login: Credentials | undefined, deps: RenewDeps): Promise<Renewed> {
  const server = await deps.discover()
  const refreshToken = login?.tokens?.refresh_token
  if (!login || refreshToken === undefined) return requestOwnTokens(deps.url, { ...deps, server })
  const { authorizationServerUrl, authorizationServerMetadata: metadata } = server
  const { resource, redirectUrl, client: known, tokens: before } = login
  const issuer = metadata?.issuer ?? authorizationServerUrl
  const client = isSameIssuer(known.issuer, issuer) ? deps.clientAt(issuer) : undefined
  // What one authorization server gave is shown to no other.
  if (!client) throw new NeedsLogin(deps.name, ` (its authorization server is now ${issuer})`)
  const tokens = await refreshAuthorization(authorizationServerUrl, {
    ...(metadata ? { metadata } : {}),
    clientInformation: client,
    refreshToken,
    ...(resource === undefined ? {} : { resource }),
    fetchFn: deps.fetch,
  })
  const scope = tokens.scope ?? before?.scope
  return {
    client: known,
    ...(resource === undefined ? {} : { resource }),
    ...(redirectUrl === undefined ? {} : { redirectUrl }),
    tokens: { ...tokens, ...(scope === undefined ? {} : { scope }) },
  }
}

/** Whether the authorization server said no for good. */
export function isRefusal(error: unknown): error is OAuthError {
  return error instanceof OAuthError && REFUSALS.has(error.code)
}
