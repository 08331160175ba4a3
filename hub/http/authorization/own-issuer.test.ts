import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { Browser } from '../../../tests/support/oauth-client.ts'
import { send } from '../../../tests/support/raw-http.ts'
import { openTempStore } from '../../../tests/support/temp-store.ts'
import { systemClock } from '../../core/clock.ts'
import { createLog } from '../../core/log.ts'
import { createOwnIssuer } from './own-issuer.ts'

const ID = 'https://claude.example/client.json'
/** The document of a program on a person's machine, as Claude Code publishes it. */
const DOCUMENT = {
  client_id: ID,
  client_name: 'Claude Code',
  redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
}

/** Runs `use` with the address of an issuer for whom every document is what `fetch` returns. */
async function withIssuer<Result>(
  fetch: (asked: string) => Promise<Response>,
  use: (url: string) => Promise<Result>,
) {
  await using store = await openTempStore()
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const { handle } = await createOwnIssuer(url, {
      store,
      clock: systemClock,
      log: createLog({ level: 'error', now: systemClock.now, write: () => undefined }),
      tokens: { ofGrant: () => undefined, endGrant: async () => undefined },
      toAudience: resource => resource,
      fetch: asked => fetch(String(asked)),
    })
    server.on('request', handle)
    return await use(url)
  } finally {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
}

/** Returns where a browser comes to that a client sends to the issuer. */
async function open(url: string, id = ID, redirect = 'http://127.0.0.1:51763/callback'): Promise<string> {
  const parameters = {
    response_type: 'code',
    client_id: id,
    redirect_uri: redirect,
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    // Scopes and parameters that only other servers know do no harm.
    scope: 'openid offline_access',
    nonce: 'n',
    prompt: 'none',
  }
  return (await new Browser().open(`${url}/oauth/authorize?${new URLSearchParams(parameters)}`)).at
}

/** Returns the same for a client with this document. */
function ask(document: object, redirect?: string): Promise<string> {
  const fetch = async (asked: string) => {
    expect(asked).toBe(ID)
    return Response.json(document)
  }
  return withIssuer(fetch, url => open(url, ID, redirect))
}

test('a client that is known by its document is asked for on the page, at any port of loopback', async () => {
  expect(await ask(DOCUMENT)).toMatch(/\/oauth\/consent\/\S+/)
  expect(await ask(DOCUMENT, 'http://localhost:3118/callback')).toMatch(/\/oauth\/consent\/\S+/)
})

test.each<[string, object, string?]>([
  ['of another address', { ...DOCUMENT, client_id: 'https://other.example/client.json' }],
  ['with a secret', { ...DOCUMENT, client_secret: 'x' }],
  ['of a client with a secret', { ...DOCUMENT, token_endpoint_auth_method: 'client_secret_basic' }],
  ['without redirects', { ...DOCUMENT, redirect_uris: undefined }],
  ['that redirects elsewhere', DOCUMENT, 'https://evil.example/callback'],
  ['of 6 kB', { ...DOCUMENT, more: 'x'.repeat(6_000) }],
])('a document %s is refused', async (_what, document, redirect) => {
  expect(await ask(document, redirect)).toMatch(/\/oauth\/authorize\?/)
})

test.each<[string, () => Promise<Response>]>([
  ['cannot be reached', () => Promise.reject(new Error('no way there'))],
  ['answers with an error', async () => new Response('', { status: 500 })],
])('a client whose document %s is told to try later, and not that it is unknown', async (_what, fetch) => {
  const fields = { grant_type: 'refresh_token', refresh_token: 'r', client_id: ID }
  const { status, json } = await withIssuer(fetch, url =>
    send(`${url}/oauth/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    }),
  )
  expect([status, json]).toMatchObject([503, { error: 'temporarily_unavailable' }])
})

test('a stranger who makes up clients keeps nobody else from signing in', async () => {
  const fetch = async (asked: string) =>
    asked === ID ? Response.json(DOCUMENT) : new Response('', { status: 404 })
  const at = await withIssuer(fetch, async url => {
    for (let made = 0; made < 100; made++) await open(url, `https://evil.example/${made}.json`)
    return open(url)
  })
  expect(at).toMatch(/\/oauth\/consent\/\S+/)
})
