import type { IncomingMessage } from 'node:http'
import { type Request, type RequestHandler, Router } from 'express'
import type { AuthorizationEntry } from '../../../schemas/authorization.ts'
import { type Clock, MAX_DELAY } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import { createBuckets } from '../../core/rate-limit.ts'
import { networkOf } from '../address.ts'
import { type Doors, digest } from '../doors.ts'
import type { Tokens } from '../tokens.ts'
import type { Issuer } from './access-tokens.ts'
import { createConsentDoor, SCOPE } from './consent-door.ts'
import type { OwnIssuer, OwnIssuerDeps } from './own-issuer.ts'

export interface AuthorizationDeps extends Omit<OwnIssuerDeps, 'tokens' | 'toAudience'> {
  doors: Doors
  tokens: Pick<Tokens, 'ofGrant' | 'addGrant' | 'endGrant' | 'hold'>
  /** Returns the config: without `authorization` only the hub's own tokens open it. */
  settings: () => {
    readonly authorization?: AuthorizationEntry | undefined
    readonly toolsets: Readonly<Record<string, unknown>>
  }
  /** Returns the hub's address, without a slash at its end. */
  url: () => string
}

/** An access token was sent by `principal`; `hold` is told of its end. */
export interface Admitted {
  principal: Principal
  /** Calls `end` once the token opens nothing any more, until the returned function is called. */
  hold: (end: () => void) => () => void
}

/** OAuth for clients of /mcp. */
export interface Authorization {
  /**
   * Resolves with who sent an access token; undefined for another kind of token. Throws `unauthorized` for one
   * that is over, and `unavailable` where its issuer cannot be asked.
   */
  admit: (token: string, request: IncomingMessage) => Promise<Admitted | undefined>
  /** Returns what a refused client of /mcp is told of how to get in; undefined where OAuth is switched off. */
  challenge: (request: IncomingMessage) => string | undefined
  /** Serves the metadata and, where the hub is the issuer, its authorization server. */
  door: RequestHandler
}

const DOOR = 'MCP at /mcp'
const METADATA = '/.well-known/oauth-protected-resource'
/** Requests to the authorization server from one address: each may write a row or fetch a document. */
const REQUESTS = { perSecond: 10, burst: 300 }

export function createAuthorization(deps: AuthorizationDeps): Authorization {
  const toPath = (url: string) => readPath(url, deps.settings().toolsets)
  const own = createOwn(deps, resource => {
    const { origin, pathname } = URL.parse(resource) ?? {}
    const path = pathname === undefined ? undefined : toPath(pathname)
    return path !== undefined && `${origin}` === new URL(deps.url()).origin ? deps.url() + path : undefined
  })
  const external = createExternal(deps.clock)
  return {
    async admit(token, request) {
      const entry = deps.settings().authorization
      // A token of the hub itself has no dots.
      if (!entry || token.split('.').length !== 3) return undefined
      const { readAccessToken } = await import('./access-tokens.ts')
      const isOwn = entry.issuer === 'own'
      const issuer: Issuer = isOwn ? await own() : await external(entry.issuer)
      const path = toPath(request.url ?? '') ?? '/mcp'
      const audience = entry.audience ? [entry.audience] : ['/mcp', path].map(each => deps.url() + each)
      const claims = await readAccessToken(token, issuer, audience)
      if (claims === undefined) return undefined
      if (claims === 'expired') throw toOver()
      if (!isOwn) return admitExternal(claims, deps.clock)
      const principal = deps.tokens.ofGrant(String(claims['grant']))
      if (!principal) throw toOver()
      return { principal, hold: end => deps.tokens.hold(principal, end) }
    },
    challenge(request) {
      const entry = deps.settings().authorization
      const path = toPath(request.url ?? '')
      if (!entry || path === undefined) return undefined
      const error = request.headers.authorization === undefined ? '' : 'error="invalid_token", '
      const scope = entry.issuer === 'own' ? `, scope="${SCOPE}"` : ''
      return `Bearer ${error}resource_metadata="${deps.url()}${METADATA}${path}"${scope}`
    },
    door: createDoor(deps, own),
  }
}

function toOver(): HubError {
  return new HubError('unauthorized', `${DOOR}: this access token is over or was revoked; sign in again.`)
}

/** Returns the path of the resource that a URL of /mcp means; undefined for another URL. */
function readPath(url: string, toolsets: object): string | undefined {
  const [, toolset] = /^\/mcp(?:\/([^/?]+))?\/?(?:\?|$)/.exec(url) ?? [undefined, '']
  if (toolset === undefined) return '/mcp'
  return Object.hasOwn(toolsets, toolset) ? `/mcp/${toolset}` : undefined
}

/** Returns what starts the hub's own authorization server, once. */
function createOwn(
  deps: AuthorizationDeps,
  toAudience: OwnIssuerDeps['toAudience'],
): () => Promise<OwnIssuer> {
  let made: Promise<OwnIssuer> | undefined
  const make = async () => {
    const { createOwnIssuer } = await import('./own-issuer.ts')
    return createOwnIssuer(deps.url(), { ...deps, toAudience })
  }
  return () => {
    made ??= make().catch(error => {
      made = undefined
      throw error
    })
    return made
  }
}

/** Returns what finds the issuer of the config by its address. */
function createExternal(clock: Clock): (url: string) => Promise<Issuer> {
  let found: { url: string; find: () => Promise<Issuer> } | undefined
  return async url => {
    const { createIssuerFinder } = await import('./access-tokens.ts')
    if (found?.url !== url) found = { url, find: createIssuerFinder(url, clock) }
    return found.find()
  }
}

/** Returns who another issuer's token is of: a program, under a name that no token of the hub has. */
function admitExternal(
  { iss, sub, exp = 0, client_id }: { iss?: string; sub?: string; exp?: number; client_id?: unknown },
  clock: Clock,
): Admitted {
  const id = digest(JSON.stringify([iss, sub, client_id]))
    .toString('hex')
    .slice(0, 16)
  const principal = { id: `oauth_${id}`, name: `oauth-${id}`, role: 'client' } as const
  return {
    principal,
    hold: end => clock.after(Math.min(MAX_DELAY, Math.max(0, exp * 1_000 - clock.now())), end),
  }
}

function createDoor(deps: AuthorizationDeps, own: () => Promise<OwnIssuer>): RequestHandler {
  const router = Router()
  const describe: RequestHandler = (request, response, next) => {
    const entry = deps.settings().authorization
    const path = readPath(request.path.slice(METADATA.length) || '/mcp', deps.settings().toolsets)
    if (!entry || path === undefined) return next()
    const isOwn = entry.issuer === 'own'
    response.json({
      resource: deps.url() + path,
      authorization_servers: [isOwn ? deps.url() : entry.issuer],
      bearer_methods_supported: ['header'],
      resource_name: 'Superbloom',
      ...(isOwn ? { scopes_supported: [SCOPE] } : {}),
    })
  }
  router.get('/.well-known/oauth-protected-resource', describe)
  router.get('/.well-known/oauth-protected-resource/mcp', describe)
  router.get('/.well-known/oauth-protected-resource/mcp/:toolset', describe)
  const mayPass = createBuckets(REQUESTS)
  const limit = (request: Request) => {
    if (mayPass(networkOf(deps.doors.addressOf(request)), deps.clock.monotonic())) return
    throw new HubError('rate_limited', 'The authorization server: too many requests at once; wait a minute.')
  }
  const issue: RequestHandler = async (request, response, next) => {
    if (deps.settings().authorization?.issuer !== 'own') return next()
    const { handle } = await own()
    handle(request, response)
  }
  const rarely: RequestHandler = (request, _response, next) => {
    limit(request)
    next()
  }
  router.get('/.well-known/oauth-authorization-server', issue)
  router.get('/.well-known/openid-configuration', issue)
  router.get('/oauth/jwks', issue)
  router.get('/oauth/authorize', rarely, issue)
  router.get('/oauth/authorize/:uid', rarely, issue)
  router.post('/oauth/token', rarely, issue)
  router.post('/oauth/register', rarely, issue)
  router.post('/oauth/revoke', rarely, issue)
  router.use(
    createConsentDoor({ ...deps, own, limit, isOn: () => deps.settings().authorization?.issuer === 'own' }),
  )
  return router
}
