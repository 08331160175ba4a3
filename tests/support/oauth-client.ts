import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as StreamableHTTPClientTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Line } from './clients.ts'
import { type RawResponse, send } from './raw-http.ts'

/** Where the browser comes back to; nothing listens there. */
export const CALLBACK = 'http://127.0.0.1:1/callback'

/** A browser with its cookies, which follows redirects within the hub. */
export class Browser {
  readonly #hub: { origin: string; at: string } | undefined
  readonly #cookies = new Map<string, { value: string; path: string }>()

  /** `hub`: its origin for browsers, and where it listens. */
  constructor(hub?: { origin: string; at: string }) {
    this.#hub = hub
  }

  /** Resolves with the last answer, and the address that it came from or leads to. */
  async open(url: string, form?: Record<string, string>): Promise<RawResponse & { at: string }> {
    const { pathname, origin } = new URL(url)
    const cookies = [...this.#cookies].filter(([, { path }]) => pathname.startsWith(path))
    const { origin: shown = origin, at = origin } = this.#hub ?? {}
    const answer = await send(url.replace(shown, at), {
      method: form ? 'POST' : 'GET',
      headers: {
        Cookie: cookies.map(([key, { value }]) => `${key.split(' ')[0]}=${value}`).join('; '),
        ...(form ? { 'Content-Type': 'application/x-www-form-urlencoded', Origin: origin } : {}),
      },
      ...(form ? { body: new URLSearchParams(form).toString() } : {}),
    })
    for (const cookie of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      const path = /path=([^;]+)/i.exec(cookie)?.[1] ?? '/'
      this.#cookies.set(`${name} ${path}`, { value, path })
    }
    const { location } = answer.headers
    if (location === undefined) return { ...answer, at: url }
    const next = new URL(location, url)
    return next.origin === origin ? this.open(next.href) : { ...answer, at: next.href }
  }
}

/** What a client keeps of its sign-in, as either SDK asks for it. */
export function createSignIn(name = 'Test Client') {
  const kept: {
    client?: { client_id: string }
    tokens?: { access_token: string; token_type: string; refresh_token?: string; expires_in?: number }
    verifier: string
    url?: URL
  } = { verifier: '' }
  return {
    kept,
    redirectUrl: CALLBACK,
    clientMetadata: { client_name: name, redirect_uris: [CALLBACK] },
    clientInformation: () => kept.client,
    saveClientInformation: (client: { client_id: string }) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens: NonNullable<typeof kept.tokens>) => void Object.assign(kept, { tokens }),
    redirectToAuthorization: (url: URL) => void Object.assign(kept, { url }),
    saveCodeVerifier: (verifier: string) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier,
    invalidateCredentials: (scope: string) => void (scope === 'tokens' && delete kept.tokens),
  }
}
export type SignIn = ReturnType<typeof createSignIn>

/** A client that signs in with OAuth. */
export interface OAuthClient extends AsyncDisposable {
  /** Connects; rejects where a person has to sign in first. */
  connect(): Promise<void>
  /** Redeems the answer that the browser came back with. */
  finish(answer: URL): Promise<void>
  listTools(): Promise<string[]>
}

export function createOAuthClient(line: Line, url: string, signIn: SignIn): OAuthClient {
  return line === 'sdk 1' ? createV1(url, signIn) : createV2(line, url, signIn)
}

function createV2(line: Line, url: string, signIn: SignIn): OAuthClient {
  const mode = line === 'sdk 2, legacy' ? ('legacy' as const) : { pin: '2026-07-28' }
  const open = () => ({
    client: new Client({ name: 'oauth', version: '1.0.0' }, { versionNegotiation: { mode } }),
    transport: new StreamableHTTPClientTransport(new URL('/mcp', url), { authProvider: signIn }),
  })
  let now = open()
  return {
    async connect() {
      now = open()
      await now.client.connect(now.transport)
    },
    finish: answer => now.transport.finishAuth(answer.searchParams),
    listTools: async () =>
      (await now.client.listTools(undefined, { cacheMode: 'refresh' })).tools.map(({ name }) => name),
    [Symbol.asyncDispose]: () => now.client.close(),
  }
}

function createV1(url: string, signIn: SignIn): OAuthClient {
  const open = () => ({
    client: new ClientV1({ name: 'oauth', version: '1.0.0' }),
    transport: new StreamableHTTPClientTransportV1(new URL('/mcp', url), { authProvider: signIn }),
  })
  let now = open()
  return {
    async connect() {
      now = open()
      await now.client.connect(now.transport as TransportV1)
    },
    finish: answer => now.transport.finishAuth(answer.searchParams.get('code') ?? ''),
    listTools: async () => (await now.client.listTools()).tools.map(({ name }) => name),
    [Symbol.asyncDispose]: () => now.client.close(),
  }
}
