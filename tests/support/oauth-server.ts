import { randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { InvalidGrantError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import type {
  AuthorizationParams,
  OAuthServerProvider,
} from '@modelcontextprotocol/sdk/server/auth/provider.js'
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import express, { type Response } from 'express'
import type { Guard } from './http-servers.ts'

/** A client that needs no registration; its grant is client_credentials. */
export const KNOWN_CLIENT = { clientId: 'known-client', clientSecret: 'known-client-secret' }

type RegistrationRequest = Omit<OAuthClientInformationFull, 'client_id' | 'client_id_issued_at'>

interface Grant {
  clientId: string
  scopes: string[]
  resource: string | undefined
}

/** The authorization server of the official SDK 1 at an address; its users consent at once. */
export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string
  /** Requests in order: `register`, `authorize read`, `code`, `refresh`, `client_credentials`. */
  readonly asked: string[]
  /** All values that it issued and that must stay secret. */
  readonly secrets: Set<string>
  /** Seconds that access tokens last; default an hour. */
  lasts: number
  /** Parameters of the redirect besides code and state: `iss`, or an error. */
  answer: Record<string, string>
  /** Runs before tokens are renewed; an error that it throws is the answer. */
  onRefresh: () => unknown
  /** Invalidates all access tokens issued so far. */
  revoke(): void
  /**
   * Returns a guard for an MCP server: requests need a token for it; calls of these tools, of 2026-07-28,
   * need one with the tool's scope.
   */
  guard(scopes?: Readonly<Record<string, string>>): Guard
}

export async function startAuthorizationServer({
  registers = true,
  host = '127.0.0.1',
} = {}): Promise<AuthorizationServer> {
  const app = express()
  const server = createServer(app)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}/`
  const state = { lasts: 3600, answer: {} as Record<string, string>, onRefresh: (): unknown => undefined }
  const asked: string[] = []
  const tokens = createTokens(() => state.lasts)
  const provider = createProvider(tokens, asked, state, registers)
  app.post('/token', express.urlencoded({ extended: false }), (request, response, next) => {
    const { grant_type: grant, scope = '', client_id: id, client_secret: secret, resource } = request.body
    if (grant !== 'client_credentials') return next()
    asked.push(grant)
    if (id !== KNOWN_CLIENT.clientId || secret !== KNOWN_CLIENT.clientSecret)
      return void response.status(401).json({ error: 'invalid_client' })
    response.json({
      ...tokens.give({ clientId: id, scopes: scope.split(' '), resource }),
      refresh_token: undefined,
    })
  })
  const rateLimit = { rateLimit: false as const }
  app.use(
    mcpAuthRouter({
      provider,
      issuerUrl: new URL(issuer),
      authorizationOptions: rateLimit,
      tokenOptions: rateLimit,
      clientRegistrationOptions: rateLimit,
    }),
  )
  return Object.assign(state, {
    issuer,
    asked,
    secrets: tokens.secrets,
    revoke: tokens.revoke,
    guard: (scopes: Readonly<Record<string, string>> = {}) => createGuard(issuer, tokens, scopes),
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  })
}

type Tokens = ReturnType<typeof createTokens>

function createTokens(lasts: () => number) {
  const access = new Map<string, Grant>()
  const refresh = new Map<string, Grant>()
  const secrets = new Set<string>()
  const make = (kind: string) => {
    const made = `${kind}-${randomUUID()}`
    secrets.add(made)
    return made
  }
  return {
    access,
    secrets,
    make,
    give(grant: Grant): OAuthTokens {
      const [accessToken, refreshToken] = [make('access'), make('refresh')]
      access.set(accessToken, grant)
      refresh.set(refreshToken, grant)
      return {
        access_token: accessToken,
        refresh_token: refreshToken,
        token_type: 'Bearer',
        expires_in: lasts(),
        scope: grant.scopes.join(' '),
      }
    },
    /** Renews the tokens; each refresh token works once. */
    renew(token: string): OAuthTokens {
      const grant = refresh.get(token)
      if (!grant || !refresh.delete(token)) throw new InvalidGrantError('This refresh token is not known')
      return this.give(grant)
    },
    revoke: () => access.clear(),
  }
}

function createProvider(
  tokens: Tokens,
  asked: string[],
  state: Pick<AuthorizationServer, 'answer' | 'onRefresh'>,
  registers: boolean,
): OAuthServerProvider {
  const clients = new Map<string, OAuthClientInformationFull>()
  const codes = new Map<string, { grant: Grant; challenge: string }>()
  const registerClient = (client: RegistrationRequest) => {
    asked.push('register')
    const registered = { ...client, client_id: randomUUID(), client_secret: tokens.make('secret') }
    clients.set(registered.client_id, registered)
    return registered
  }
  return {
    clientsStore: {
      getClient: id => clients.get(id),
      ...(registers ? { registerClient } : {}),
    },
    async authorize(client, params: AuthorizationParams, response: Response) {
      const { scopes = [], state: given = '', redirectUri, codeChallenge, resource } = params
      asked.push(`authorize ${scopes.join(' ')}`.trim())
      const code = tokens.make('code')
      const grant = { clientId: client.client_id, scopes, resource: resource?.href }
      codes.set(code, { grant, challenge: codeChallenge })
      const back = new URL(redirectUri)
      const query = { ...('error' in state.answer ? {} : { code }), state: given, ...state.answer }
      for (const [name, value] of Object.entries(query)) back.searchParams.set(name, value)
      response.redirect(back.href)
    },
    async challengeForAuthorizationCode(_client, code) {
      return codes.get(code)?.challenge ?? ''
    },
    async exchangeAuthorizationCode(_client, code) {
      asked.push('code')
      const found = codes.get(code)
      if (!found || !codes.delete(code)) throw new InvalidGrantError('This code is not known')
      return tokens.give(found.grant)
    },
    async exchangeRefreshToken(_client, token) {
      asked.push('refresh')
      const renewed = tokens.renew(token)
      await state.onRefresh()
      return renewed
    },
    async verifyAccessToken() {
      throw new Error('The guard does that')
    },
  }
}

function createGuard(issuer: string, { access }: Tokens, scopes: Readonly<Record<string, string>>): Guard {
  return (request, response, url) => {
    const metadata = new URL('/.well-known/oauth-protected-resource/mcp', url).href
    if (request.url === new URL(metadata).pathname) {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify({ resource: url, authorization_servers: [issuer] }))
      return false
    }
    const grant = access.get(/^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '')
    if (grant?.resource !== url)
      return refuse(response, 401, `Bearer resource_metadata="${metadata}", scope="read"`)
    const wanted = scopes[String(request.headers['mcp-name'])]
    if (wanted === undefined || grant.scopes.includes(wanted)) return true
    return refuse(response, 403, `Bearer error="insufficient_scope", scope="${wanted}"`)
  }
}

function refuse(response: ServerResponse, status: number, authenticate: string): false {
  response.writeHead(status, { 'WWW-Authenticate': authenticate, 'Content-Type': 'application/json' })
  response.end('{"error":"not let in"}')
  return false
}
