import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { LINES, openClient } from './clients.ts'
import { Browser, CALLBACK } from './oauth-client.ts'
import { INITIALIZE, mcpHeaders, type RawResponse, send } from './raw-http.ts'
import type { TestHub } from './test-hub.ts'

export const VERIFIER = randomBytes(32).toString('base64url')
const S256 = createHash('sha256').update(VERIFIER).digest('base64url')

type Parameters = Record<string, string | undefined>

/** The requests of an OAuth client, one by one, so that each can be wrong. */
export class OAuthRequests {
  readonly #hub: TestHub
  /** Origin of the hub for browsers and clients, where it is not the one that it listens on. */
  readonly #origin: string | undefined
  client = ''

  constructor(hub: TestHub, origin?: string) {
    this.#hub = hub
    this.#origin = origin
  }

  get origin(): string {
    return this.#origin ?? this.#hub.url
  }

  browser(): Browser {
    return new Browser({ origin: this.origin, at: this.#hub.url })
  }

  async register(metadata: object = {}): Promise<string> {
    const { status, json } = await this.postClient(metadata)
    expect(status).toBe(201)
    return (json as { client_id: string }).client_id
  }

  postClient(metadata: object): Promise<RawResponse> {
    return send(`${this.#hub.url}/oauth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ client_name: 'Mallory', redirect_uris: [CALLBACK], ...metadata }),
    })
  }

  /** Returns the address of an authorization request; undefined leaves a parameter out. */
  authorize(more: Parameters = {}): string {
    const asked = {
      response_type: 'code',
      client_id: this.client,
      redirect_uri: CALLBACK,
      code_challenge: S256,
      code_challenge_method: 'S256',
      resource: `${this.origin}/mcp`,
      state: 'x',
      ...more,
    }
    const given = Object.entries(asked).filter(([, value]) => value !== undefined)
    return `${this.origin}/oauth/authorize?${new URLSearchParams(given as [string, string][])}`
  }

  ask(more?: Parameters) {
    return this.browser().open(this.authorize(more))
  }

  /** Returns the code that a browser brings back whose owner says yes. */
  async allow(more?: Parameters): Promise<string> {
    const browser = this.browser()
    const page = await browser.open(this.authorize(more))
    const { at } = await browser.open(page.at, { token: this.#hub.token, decision: 'allow' })
    return new URL(at).searchParams.get('code') ?? at
  }

  redeem(code: string, more: Record<string, string> = {}): Promise<RawResponse> {
    return this.post('/oauth/token', {
      grant_type: 'authorization_code',
      code,
      client_id: this.client,
      redirect_uri: CALLBACK,
      code_verifier: VERIFIER,
      ...more,
    })
  }

  /** Returns the tokens of a whole sign-in. */
  async signIn(more?: Parameters): Promise<{ access_token: string; refresh_token: string }> {
    return toTokens(await this.redeem(await this.allow(more)))
  }

  refresh(token: string): Promise<RawResponse> {
    const fields = { grant_type: 'refresh_token', refresh_token: token, client_id: this.client }
    return this.post('/oauth/token', fields)
  }

  post(path: string, fields: Record<string, string>): Promise<RawResponse> {
    return send(`${this.#hub.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    })
  }

  /** Returns the status that a token gets at /mcp. */
  async enter(token: string, path = '/mcp'): Promise<number> {
    const request = { method: 'POST', headers: mcpHeaders(token), body: INITIALIZE }
    return (await send(this.#hub.url + path, request)).status
  }

  /** Returns the names of what was allowed and still is. */
  async grants(): Promise<string[]> {
    await using owner = await openClient(LINES[0], this.#hub)
    const { structuredContent } = await owner.call('hub_list_tokens')
    const { tokens } = structuredContent as { tokens: { name: string; kind: string }[] }
    return tokens.filter(({ kind }) => kind === 'grant').map(({ name }) => name)
  }
}

export function toTokens({ json }: RawResponse) {
  return json as { access_token: string; refresh_token: string }
}

export function errorOf({ status, json }: RawResponse): [number, string | undefined] {
  return [status, (json as { error?: string }).error]
}
