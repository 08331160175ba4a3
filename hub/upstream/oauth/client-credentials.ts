import {
  type FetchLike,
  fetchToken,
  type OAuthClientProvider,
  type OAuthServerInfo,
  type OAuthTokens,
  type StoredOAuthClientInformation,
  selectResourceURL,
} from '@modelcontextprotocol/client'
import type { Credentials } from './credentials.ts'
import { LoginFault } from './faults.ts'

export interface OwnTokensDeps {
  server: OAuthServerInfo
  clientAt: (issuer: string) => StoredOAuthClientInformation | undefined
  scope: string | undefined
  fetch: FetchLike
}

/** Requests tokens by the grant `client_credentials`, without a person. Throws the server's error. */
export async function requestOwnTokens(
  url: string,
  { server, clientAt, scope: wanted, fetch }: OwnTokensDeps,
): Promise<Pick<Credentials, 'client' | 'resource'> & { tokens: OAuthTokens }> {
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = server
  const issuer = metadata?.issuer ?? authorizationServerUrl
  const client = clientAt(issuer)
  if (!client) throw new LoginFault('the grant client_credentials needs oauth.clientId in its entry')
  const provider = toProvider(client)
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
    client: { client_id: client.client_id, issuer },
    ...(resource === undefined ? {} : { resource }),
    tokens: { ...tokens, ...(granted === undefined ? {} : { scope: granted }) },
  }
}

function toProvider(client: StoredOAuthClientInformation): OAuthClientProvider {
  const isForPeople = () => {
    throw new LoginFault('the grant client_credentials asks nobody')
  }
  return {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [], grant_types: ['client_credentials'] },
    clientInformation: () => client,
    tokens: () => undefined,
    saveTokens: () => undefined,
    redirectToAuthorization: isForPeople,
    saveCodeVerifier: isForPeople,
    codeVerifier: isForPeople,
    prepareTokenRequest: scope =>
      new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) }),
  }
}
