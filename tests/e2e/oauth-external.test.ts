import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LINES, openClient } from '../support/clients.ts'
import { INITIALIZE, mcpHeaders, send } from '../support/raw-http.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

let hub: TestHub
let server: Server
let issuer: string
let keys: { privateKey: CryptoKey; publicKey: CryptoKey }
let fetches = 0

beforeAll(async () => {
  keys = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256' }
  server = createServer((request, response) => {
    const metadata = {
      issuer,
      jwks_uri: `${issuer}/keys`,
      authorization_endpoint: `${issuer}/a`,
      token_endpoint: `${issuer}/t`,
      response_types_supported: ['code'],
    }
    fetches++
    const body = request.url === '/keys' ? { keys: [jwk] } : metadata
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  hub = await startTestHub({
    config: JSON.stringify({ servers: { metrics: false }, authorization: { issuer } }),
  })
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await new Promise(resolve => server.close(resolve))
})

const now = () => Math.floor(Date.now() / 1_000)
const claims = (more: object = {}) => ({
  iss: issuer,
  sub: 'user-1',
  aud: `${hub.url}/mcp`,
  exp: now() + 600,
  client_id: 'claude',
  ...more,
})

const sign = (payload: object, header: object = {}, key: CryptoKey | Uint8Array = keys.privateKey) =>
  new SignJWT({ ...payload }).setProtectedHeader({ alg: 'RS256', kid: 'one', ...header }).sign(key)

const enter = async (token: string) => {
  const { status, headers } = await send(`${hub.url}/mcp`, {
    method: 'POST',
    headers: mcpHeaders(token),
    body: INITIALIZE,
  })
  return { status, challenge: String(headers['www-authenticate']) }
}

test('a client learns where to sign in, and its token opens /mcp as a program', async () => {
  const metadata = await send(`${hub.url}/.well-known/oauth-protected-resource/mcp`)
  expect(metadata.json).toMatchObject({ resource: `${hub.url}/mcp`, authorization_servers: [issuer] })
  const refused = await send(`${hub.url}/mcp`, { method: 'POST' })
  const where = `resource_metadata="${hub.url}/.well-known/oauth-protected-resource/mcp"`
  expect(refused.headers['www-authenticate']).toBe(`Bearer ${where}`)
  const token = await sign(claims())
  for (const line of LINES) {
    await using client = await openClient(line, { url: hub.url, token })
    const names = (await client.listTools()).map(({ name }) => name)
    expect(names).toContain('hub_chat')
    expect(names).not.toContain('hub_create_token')
  }
  // The metadata and the keys are fetched once.
  expect(fetches).toBe(2)
})

test('no other token opens it', async () => {
  const other = await generateKeyPair('RS256')
  const { n = '' } = await exportJWK(keys.publicKey)
  const wrong: Record<string, string> = {
    'another audience': await sign(claims({ aud: 'https://elsewhere.example/mcp' })),
    'no audience': await sign(claims({ aud: undefined })),
    'another issuer': await sign(claims({ iss: 'https://evil.example' })),
    'no issuer': await sign(claims({ iss: undefined })),
    'no end': await sign(claims({ exp: undefined })),
    'no subject': await sign(claims({ sub: undefined })),
    'not yet': await sign(claims({ nbf: now() + 600 })),
    'another key': await sign(claims(), {}, other.privateKey),
    'an unknown key': await sign(claims(), { kid: 'two' }, other.privateKey),
    'a key of its own': await sign(claims(), { jwk: await exportJWK(other.publicKey) }, other.privateKey),
    'the public key as a secret': await sign(claims(), { alg: 'HS256' }, Buffer.from(n, 'base64url')),
    'no signature': new UnsecuredJWT(claims()).encode(),
    'a cut signature': (await sign(claims())).replace(/\.[^.]+$/, '.'),
    'no JSON': 'a.b.c',
  }
  for (const [what, token] of Object.entries(wrong)) {
    const { status } = await enter(token)
    expect([what, [401, 429].includes(status)]).toEqual([what, true])
  }
})

test('a token whose time is over is told so each time, so that its client refreshes', async () => {
  const over = await sign(claims({ exp: now() - 60 }))
  for (let time = 0; time < 20; time++) {
    const { status, challenge } = await enter(over)
    expect([status, challenge]).toEqual([401, expect.stringContaining('error="invalid_token"')])
  }
})

test('the hub says when the issuer cannot be asked', async () => {
  const gone = 'http://127.0.0.1:1'
  await using other = await startTestHub({
    config: JSON.stringify({ servers: { metrics: false }, authorization: { issuer: gone } }),
  })
  const request = { method: 'POST', headers: mcpHeaders(await sign(claims())), body: INITIALIZE }
  const { status, text } = await send(`${other.url}/mcp`, request)
  expect([status, text]).toEqual([503, expect.stringContaining(gone)])
})

test('where it is switched off, nothing of it is there', async () => {
  await using other = await startTestHub()
  for (const path of [
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server',
    '/oauth/jwks',
    '/oauth/authorize',
    '/oauth/consent/x',
  ])
    expect([path, (await send(other.url + path)).status]).toEqual([path, 404])
  const { headers } = await send(`${other.url}/mcp`, { method: 'POST' })
  expect(headers['www-authenticate']).toBe('Bearer realm="superbloom"')
})

test.each(['http://hub.example.org', 'https://hub.example.org/below'])(
  'it is refused where the public address is %s',
  async address => {
    const started = startTestHub({
      config: 'authorization: { issuer: own }\n',
      variables: { SUPERBLOOM_PUBLIC_URL: address },
    })
    await expect(started).rejects.toThrow(/SUPERBLOOM_PUBLIC_URL: .*https:\/\/hub.example.org/)
  },
)
