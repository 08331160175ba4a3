import { randomBytes } from 'node:crypto'
import {
  type AuthorizationServerMetadata,
  auth,
  exchangeAuthorization,
  isHttpsUrl,
  type OAuthClientProvider,
  type OAuthServerInfo,
  type StoredOAuthClientInformation,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client'
import { HubError } from '../../core/errors.ts'
import type { Authorization } from './authorization.ts'
import { isRegistered } from './decide-client.ts'
import { describeFault } from './faults.ts'

const STATE_BYTES = 32

/** A person's login at one server, from the URL that they open to the tokens. */
export interface Login {
  /** The `state` that the URL carries and people come back with; whoever knows it may end the login. */
  readonly state: string
  /** The URL that the person opens. */
  readonly url: string
  /** Ends the login with what the person came back with. Throws `bad_request` that says why it failed. */
  finish(answer: URLSearchParams): Promise<void>
}

/** Begins a login; registers the hub if it has to. Throws `unavailable` that says why nobody can log in. */
export async function beginLogin(authorization: Authorization, redirectUrl: string): Promise<Login> {
  const { fetch } = authorization
  const { name, transport } = authorization.spec
  const state = randomBytes(STATE_BYTES).toString('base64url')
  try {
    const server = await authorization.discover()
    if (!server.authorizationServerMetadata)
      throw new Error(`no metadata of an authorization server is found at ${server.authorizationServerUrl}`)
    if (!mayRegister(server.authorizationServerMetadata, authorization))
      throw new Error(registerFirst(redirectUrl))
    const asked = createProvider(authorization, { redirectUrl, state, server })
    const scope = authorization.scope
    await auth(asked.provider, {
      serverUrl: transport.url,
      ...(scope === undefined ? {} : { scope }),
      forceReauthorization: true,
      fetchFn: fetch,
    })
    const { url, verifier, client, resource } = asked.result()
    return {
      state,
      url: url.href,
      finish: answer =>
        finishLogin(answer, { authorization, server, client, verifier, resource, redirectUrl, url }),
    }
  } catch (error) {
    const why = describeFault(error, [authorization.settings.clientSecret])
    throw explain('unavailable', `Nobody can log in at ${name}: ${why}`)
  }
}

/** Tells whether the hub is known at the authorization server, or may introduce itself there. */
function mayRegister(metadata: AuthorizationServerMetadata, authorization: Authorization): boolean {
  const { clientId } = authorization.settings
  if (metadata.registration_endpoint !== undefined || isRegistered(clientId)) return true
  return clientId !== undefined && metadata.client_id_metadata_document_supported === true
}

function registerFirst(redirectUrl: string): string {
  const how = `register a client there that comes back to ${redirectUrl}`
  return `its authorization server lets nobody register by themselves: ${how}, and write oauth: { clientId, clientSecret } into the entry`
}

interface Asked {
  redirectUrl: string
  state: string
  server: OAuthServerInfo
}

/** Creates the provider that the SDK uses to make the URL; nothing of it is kept before the login is done. */
function createProvider(authorization: Authorization, { redirectUrl, state, server }: Asked) {
  const { clientId, scope } = authorization.settings
  let client: StoredOAuthClientInformation | undefined
  let verifier = ''
  let url: URL | undefined
  let resource: string | undefined
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: 'Superbloom',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(scope === undefined ? {} : { scope }),
    },
    ...(isHttpsUrl(clientId) && clientId !== undefined ? { clientMetadataUrl: clientId } : {}),
    state: () => state,
    clientInformation: context => {
      const known = context && authorization.clientAt(context.issuer)
      // A client that was registered with another redirect URL would be refused.
      const isUsable = isRegistered(clientId) || authorization.redirectUrl === redirectUrl
      client ??= isUsable ? known : undefined
      return client
    },
    saveClientInformation: saved => {
      client = saved
    },
    tokens: () => undefined,
    saveTokens: () => undefined,
    saveCodeVerifier: saved => {
      verifier = saved
    },
    codeVerifier: () => verifier,
    saveResourceUrl: saved => {
      resource = saved
    },
    redirectToAuthorization: to => {
      url = to
    },
    discoveryState: () => server,
  }
  const result = () => {
    const issuer = server.authorizationServerMetadata?.issuer ?? server.authorizationServerUrl
    if (!url || !client) throw new Error('its authorization server gives no address to open')
    return { url, verifier, resource, client: { ...client, issuer } }
  }
  return { provider, result }
}

interface Finishing extends Omit<Asked, 'state'> {
  authorization: Authorization
  client: StoredOAuthClientInformation & { issuer: string }
  verifier: string
  resource: string | undefined
  url: URL
}

async function finishLogin(answer: URLSearchParams, asked: Finishing): Promise<void> {
  const { authorization, client, verifier, resource, redirectUrl, url } = asked
  const { authorizationServerUrl, authorizationServerMetadata: metadata } = asked.server
  const { clientId, clientSecret } = authorization.settings
  const code = answer.get('code')
  const iss = answer.get('iss') ?? undefined
  try {
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.['authorization_response_iss_parameter_supported'] === true,
    })
    if (code === null) throw new Error(describeRefusal(answer))
    const tokens = await exchangeAuthorization(authorizationServerUrl, {
      ...(metadata ? { metadata } : {}),
      clientInformation: client,
      authorizationCode: code,
      ...(iss === undefined ? {} : { iss }),
      codeVerifier: verifier,
      redirectUri: redirectUrl,
      ...(resource === undefined ? {} : { resource }),
      fetchFn: authorization.fetch,
    })
    if (authorization.isRetired) throw new Error('meanwhile somebody logged out, or its entry changed')
    // A response that names no scope granted what was asked for (RFC 6749, 5.1).
    const scope = tokens.scope ?? url.searchParams.get('scope') ?? undefined
    const isOurs = isRegistered(clientId)
    await authorization.adopt({
      // The secret of the config stays in the config.
      client: isOurs ? { client_id: clientId, issuer: client.issuer } : client,
      ...(isOurs ? {} : { redirectUrl }),
      ...(resource === undefined ? {} : { resource }),
      tokens: { ...tokens, ...(scope === undefined ? {} : { scope }) },
    })
  } catch (error) {
    const why = describeFault(error, [clientSecret, client.client_secret, code, verifier])
    throw explain('bad_request', `The login at ${authorization.spec.name} failed: ${why}`)
  }
}

/** Makes an error without its cause, which may quote secrets. */
function explain(code: 'unavailable' | 'bad_request', message: string): HubError {
  return new HubError(code, message)
}

function describeRefusal(answer: URLSearchParams): string {
  const error = answer.get('error')
  if (error === null) return 'the address that you came back to carries neither a code nor an error'
  const description = answer.get('error_description')
  return `the authorization server says ${error}${description === null ? '' : `: ${description}`}`
}
