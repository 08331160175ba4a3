import {
  ClientCredentialsProvider,
  type FetchLike,
  fetchToken,
  OAuthError,
  OAuthErrorCode,
  type OAuthServerInfo,
  type OAuthTokens,
  refreshAuthorization,
  type StoredOAuthClientInformation,
  selectResourceURL,
} from '@modelcontextprotocol/client'
import type { Credentials } from './credentials.ts'
import { isSameIssuer } from './decide-client.ts'
import { LoginFault, NeedsLogin } from './faults.ts'

/** Error codes that the authorization server would answer with another time too. */
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
  /** The server's name and URL. */
  name: string
  url: string
  discover: () => Promise<OAuthServerInfo>
  clientAt: (issuer: string) => StoredOAuthClientInformation | undefined
  /** The scope that a client which logs in by itself asks for. */
  scope: string | undefined
  fetch: FetchLike
}

/** A login with its tokens as the authorization server gave them. */
export type Renewed = Pick<Credentials, 'client' | 'resource' | 'redirectUrl'> & { tokens: OAuthTokens }

/**
 * Requests new tokens: by the refresh token of a person's login or, without one, by the client's own right.
 * Throws the authorization server's error, and `NeedsLogin` if the login was made at another one.
 */
export async function renewTokens(login: Credentials | undefined, deps: RenewDeps): Promise<Renewed> {
  const server = await deps.discover()
  const refreshToken = login?.tokens?.refresh_token
  if (!login || refreshToken === undefined) return requestOwnTokens(server, deps)
  const { authorizationServerUrl, authorizationServerMetadata: metadata } = server
  const { resource, redirectUrl, client: known, tokens: before } = login
  const issuer = metadata?.issuer ?? authorizationServerUrl
  const client = isSameIssuer(known.issuer, issuer) ? deps.clientAt(issuer) : undefined
  // The tokens of one authorization server are shown to no other.
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

/** Requests tokens by the grant `client_credentials`, without a person. */
async function requestOwnTokens(
  { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata }: OAuthServerInfo,
  { url, clientAt, scope: wanted, fetch }: RenewDeps,
): Promise<Renewed> {
  const issuer = metadata?.issuer ?? authorizationServerUrl
  const { client_id: clientId, client_secret: clientSecret } = clientAt(issuer) ?? {}
  if (clientId === undefined || clientSecret === undefined)
    throw new LoginFault('the grant client_credentials needs oauth.clientId and clientSecret in its entry')
  const provider = new ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: issuer })
  const scope = wanted ?? resourceMetadata?.scopes_supported?.join(' ')
  const resource = (await selectResourceURL(url, provider, resourceMetadata)) && resourceMetadata?.resource
  const tokens = await fetchToken(provider, authorizationServerUrl, {
    ...(metadata ? { metadata } : {}),
    ...(resource === undefined ? {} : { resource }),
    ...(scope === undefined ? {} : { scope }),
    fetchFn: fetch,
  })
  const granted = tokens.scope ?? scope
  return {
    // The secret stays in the config.
    client: { client_id: clientId, issuer },
    ...(resource === undefined ? {} : { resource }),
    tokens: { ...tokens, ...(granted === undefined ? {} : { scope: granted }) },
  }
}

/** Tells whether the authorization server refused for good. */
export function isRefusal(error: unknown): error is OAuthError {
  return error instanceof OAuthError && REFUSALS.has(error.code)
}
