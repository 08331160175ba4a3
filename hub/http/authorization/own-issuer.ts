import { randomBytes } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { calculateJwkThumbprint, createLocalJWKSet, exportJWK, generateKeyPair, type JWK } from 'jose'
import Provider, { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { createBucket } from '../../core/rate-limit.ts'
import type { Store } from '../../store/open.ts'
import type { Tokens } from '../tokens.ts'
import type { Issuer } from './access-tokens.ts'
import { SCOPE } from './consent-door.ts'
import { createAdapter, readOrMakeKeys } from './oauth-store.ts'

export interface OwnIssuerDeps {
  store: Store
  clock: Clock
  log: Log
  tokens: Pick<Tokens, 'ofGrant' | 'endGrant'>
  /** Returns the audience of tokens for a resource (RFC 8707), undefined for one that the hub does not have. */
  toAudience: (resource: string) => string | undefined
  /** Fetches the metadata documents of clients, whose addresses strangers choose. */
  fetch: typeof fetch
}

/** The hub's own authorization server. */
export interface OwnIssuer extends Issuer {
  provider: Provider
  handle: RequestListener
}

export const ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  jwks: '/oauth/jwks',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
}
const MINUTE = 60
const HOUR = 3_600
const DAY = 86_400
const ALGORITHM = 'ES256'
/**
 * Documents of clients that are fetched, whoever asks for it: more than one address may ask for, so that a
 * stranger alone does not keep others from signing in.
 */
const FETCHES = { perSecond: 50, burst: 500 }
/** Error texts for a client whose document could not be read now; such a client need not sign in anew. */
const DOCUMENT_FAILED = /^client_id metadata document fetch (?:failed|not allowed)/
/** Characters of what a client registers, about as many as the document of one may have. */
const LONGEST_CLIENT = 8_000
/** Parameters of authorization requests that mean something here. */
const PARAMETERS =
  'response_type client_id redirect_uri state code_challenge code_challenge_method resource'.split(' ')

/** Starts the authorization server that issues tokens for this hub; its keys are in the store. */
export async function createOwnIssuer(issuer: string, deps: OwnIssuerDeps): Promise<OwnIssuer> {
  const { jwks, cookies } = await readOrMakeKeys(deps, async () => {
    const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
    const key = await exportJWK(privateKey)
    const kid = await calculateJwkThumbprint(key)
    return {
      jwks: [{ ...key, kid, alg: ALGORITHM, use: 'sig' }],
      cookies: [randomBytes(32).toString('base64url')],
    }
  })
  const provider = new Provider(issuer, {
    ...toConfiguration(issuer, deps),
    jwks: { keys: jwks },
    cookies: { keys: cookies },
  })
  // The addresses of its answers are the issuer's, whatever proxies say.
  provider.proxy = true
  provider.use(async (context, next) => {
    // Nothing else reads a query; the path may be spelled in several ways.
    context.query = toKnown(context.query)
    await next()
    const { body } = context
    if (body?.error === 'invalid_client' && DOCUMENT_FAILED.test(body.error_description))
      Object.assign(context, { status: 503, body: { ...body, error: 'temporarily_unavailable' } })
    if (context.path.startsWith('/.well-known/')) Object.assign(context.body, { scopes_supported: [SCOPE] })
  })
  provider.on('server_error', (_context, error) => deps.log.error('oauth_failed', { error }))
  const { protocol, host } = new URL(issuer)
  const handle = provider.callback()
  return {
    issuer,
    provider,
    keys: createLocalJWKSet({ keys: jwks.map(toPublic) }),
    handle(request, response) {
      request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
      request.headers['x-forwarded-host'] = host
      void handle(request, response)
    },
  }
}

function toPublic({ d: _, ...key }: JWK): JWK {
  return key
}

/** Leaves out what only OpenID Connect knows; clients ask for scopes of other servers too. */
function toKnown<Value>(query: Record<string, Value>): Record<string, Value | string> {
  return {
    ...Object.fromEntries(Object.entries(query).filter(([name]) => PARAMETERS.includes(name))),
    scope: SCOPE,
  }
}

function toConfiguration(issuer: string, deps: OwnIssuerDeps): Configuration {
  return {
    adapter: createAdapter(deps),
    routes: ROUTES,
    scopes: [SCOPE],
    responseTypes: ['code'],
    pkce: { required: () => true },
    clientAuthMethods: ['none', 'private_key_jwt'],
    // Only a native client may use any port of loopback, as programs on a person's machine do (RFC 8252, 7.3).
    clientDefaults: {
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      id_token_signed_response_alg: ALGORITHM,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    ttl: {
      AccessToken: HOUR,
      AuthorizationCode: MINUTE,
      Grant: 365 * DAY,
      Interaction: 10 * MINUTE,
      RefreshToken: 30 * DAY,
      Session: 10 * MINUTE,
    },
    rotateRefreshToken: true,
    issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    // Every sign-in asks the owner: an earlier one in the same browser counts for nothing.
    loadExistingGrant: ({ oidc }) => {
      const { grantId } = oidc.result?.consent ?? {}
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId)
    },
    interactions: { url: (_context, { uid }) => `/oauth/consent/${uid}` },
    findAccount(_context, accountId, token) {
      const grant = token && 'grantId' in token ? token.grantId : undefined
      if (grant !== undefined && !deps.tokens.ofGrant(grant)) return undefined
      return { accountId, claims: () => ({ sub: accountId }) }
    },
    extraTokenClaims: (_context, token) => ('grantId' in token ? { grant: token.grantId } : {}),
    features: toFeatures(issuer, deps),
    fetch: deps.fetch,
    renderError(context, { error, error_description: text = '' }) {
      context.type = 'text/plain; charset=utf-8'
      context.body = `This sign-in cannot go on: ${error}. ${text}\n`
    },
  }
}

function toFeatures(issuer: string, { toAudience, clock }: OwnIssuerDeps): Configuration['features'] {
  const mayFetch = createBucket(FETCHES)
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
    clientIdMetadataDocument: {
      enabled: true,
      ack: 'draft-02',
      allowFetch: () => mayFetch(clock.monotonic()),
    },
    registration: { enabled: true, issueRegistrationAccessToken: false, idFactory: readRegistration },
    revocation: {
      enabled: true,
      allowedPolicy: (_context, client, token) => token.clientId === client.clientId,
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_context, _client, oneOf) => oneOf?.[0] ?? `${issuer}/mcp`,
      useGrantedResource: () => true,
      getResourceServerInfo(_context, resource) {
        const audience = toAudience(resource)
        if (audience === undefined) throw new errors.InvalidTarget(`this hub has no resource ${resource}`)
        return {
          audience,
          scope: SCOPE,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: ALGORITHM } },
        }
      },
    },
  }
}

/**
 * Returns an id for a client that registers itself, and changes what it registers: it gets no secret and no more
 * than every client gets, whatever it asked for (RFC 7591, 2).
 */
function readRegistration({ oidc }: KoaContextWithOIDC): string {
  const { body = {} } = oidc
  if (body['token_endpoint_auth_method'] !== 'private_key_jwt') body['token_endpoint_auth_method'] = 'none'
  if (JSON.stringify(body).length > LONGEST_CLIENT)
    throw new errors.InvalidClientMetadata(`a client has at most ${LONGEST_CLIENT} characters`)
  for (const key of ['scope', 'grant_types', 'response_types']) delete body[key]
  return `client_${randomBytes(16).toString('base64url')}`
}
