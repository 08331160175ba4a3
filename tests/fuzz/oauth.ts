import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { decodeJwt } from 'jose'
import { systemClock } from '../../hub/core/clock.ts'
import { createLog } from '../../hub/core/log.ts'
import { readAccessToken } from '../../hub/http/authorization/access-tokens.ts'
import { createOwnIssuer, ROUTES } from '../../hub/http/authorization/own-issuer.ts'
import { type RawResponse, send } from '../support/raw-http.ts'
import { openTempStore } from '../support/temp-store.ts'
import { bodies, like, near } from './inputs.ts'
import { over, type Target } from './target.ts'

const CALLBACK = 'http://127.0.0.1:1/callback'
const DOCUMENT_AT = 'https://claude.example/client.json'
const AUDIENCE = 'https://hub.example/mcp'

/** What a client says of itself: in its document, or where it registers. */
const CLIENT = {
  client_id: DOCUMENT_AT,
  client_name: 'Claude Code',
  redirect_uris: [CALLBACK, 'https://claude.example/callback', 'com.example.app:/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
}
const ASKED = {
  response_type: 'code',
  client_id: '',
  redirect_uri: CALLBACK,
  code_challenge: 'a'.repeat(43),
  code_challenge_method: 'S256',
  resource: AUDIENCE,
  state: 'x',
  scope: 'mcp',
}
const REDEEMED = {
  grant_type: 'authorization_code',
  code: 'c',
  client_id: '',
  redirect_uri: CALLBACK,
  code_verifier: 'b'.repeat(43),
}
const REFRESHED = { grant_type: 'refresh_token', refresh_token: 'r', client_id: '', scope: 'mcp' }

type Input =
  | { kind: 'ask' | 'token' | 'revoke'; fields: unknown }
  | { kind: 'register'; body: Buffer }
  | { kind: 'document'; document: Buffer }
  | { kind: 'present'; token: string }

type World = Awaited<ReturnType<typeof openWorld>>
let opened: Promise<World> | undefined

/** Texts like the parts of an access token, of which the right signature stands in for its place holder. */
const TOKEN = `${toPart({ alg: 'ES256', kid: 'KID' })}.${toPart({ iss: 'ISS', aud: AUDIENCE, sub: 'owner' })}.SIGNATURE`

export const oauth: Target = {
  about: 'what strangers send to the hub as an issuer, and access tokens',
  property: over(
    fc.oneof(
      fc.record({ kind: fc.constantFrom('ask'), fields: like(ASKED) }),
      fc.record({ kind: fc.constantFrom('token', 'revoke'), fields: like(REDEEMED, REFRESHED) }),
      fc.record({ kind: fc.constantFrom('register'), body: bodies(CLIENT) }),
      fc.record({ kind: fc.constantFrom('document'), document: bodies(CLIENT) }),
      fc.record({ kind: fc.constantFrom('present'), token: near(TOKEN) }),
    ),
    async input => {
      opened ??= openWorld()
      await check(input as Input, await opened)
    },
  ),
  close: async () => (await opened)?.close(),
}

async function openWorld() {
  const store = await openTempStore()
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const world = { document: '', documents: 0, failures: [] as string[] }
  const issuer = await createOwnIssuer(url, {
    store,
    // The limit of documents in a second is no matter here.
    clock: { ...systemClock, monotonic: () => world.documents * 1_000 },
    log: createLog({ level: 'error', now: systemClock.now, write: line => world.failures.push(line) }),
    tokens: { ofGrant: () => undefined, endGrant: async () => undefined },
    toAudience: resource => (resource === AUDIENCE ? AUDIENCE : undefined),
    fetch: async () => new Response(Buffer.from(world.document, 'latin1')),
  })
  server.on('request', issuer.handle)
  const registered = await post(url + ROUTES.registration, JSON.stringify(CLIENT), 'application/json')
  const { client_id: client } = registered.json as { client_id: string }
  const token = await issueToken(issuer, client)
  const close = async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
    await store[Symbol.asyncDispose]()
  }
  return Object.assign(world, { url, issuer, client, token, close })
}

/** Returns a token as the owner's yes would bring it. */
async function issueToken({ provider }: Awaited<ReturnType<typeof createOwnIssuer>>, clientId: string) {
  const client = await provider.Client.find(clientId)
  assert.ok(client)
  const token = new provider.AccessToken({
    accountId: 'owner',
    client,
    grantId: 'g',
    gty: 'authorization_code',
  })
  token.resourceServer = new provider.ResourceServer(AUDIENCE, {
    audience: AUDIENCE,
    scope: 'mcp',
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: 'ES256' } },
  })
  token.scope = 'mcp'
  return token.save()
}

async function check(input: Input, world: World): Promise<void> {
  if (input.kind === 'present') return checkToken(input.token, world)
  const answer = await request(input, world)
  assert.ok(answer.status < 500 || answer.status === 503, `${answer.status}: ${answer.text}`)
  assert.deepEqual(world.failures, [])
  const { location, 'content-type': type = '' } = answer.headers
  assert.ok(!type.includes('html') || !answer.text.includes('<script'), 'an answer has a script')
  if (input.kind === 'register') checkClient(answer)
  else if (input.kind === 'token') assert.ok(answer.status >= 400, 'nobody said yes')
  else if (location !== undefined) checkRedirect(new URL(location, world.url), world)
}

/** Node's own parser cuts longer addresses off with 431, often before the client has sent them whole. */
const LONGEST_ADDRESS = 15_000
const TOO_LONG: RawResponse = { status: 431, headers: {}, text: '', json: undefined }

function request(input: Exclude<Input, { kind: 'present' }>, world: World): Promise<RawResponse> {
  const { url } = world
  const ask = (fields: object) => {
    const address = `${url}${ROUTES.authorization}?${toForm(fields)}`
    return address.length > LONGEST_ADDRESS ? Promise.resolve(TOO_LONG) : send(address)
  }
  switch (input.kind) {
    case 'ask':
      return ask(withClient(input.fields, world.client))
    case 'document':
      world.documents++
      world.document = input.document.toString('latin1').replaceAll(DOCUMENT_AT, addressOf(world))
      return ask({ ...ASKED, client_id: addressOf(world) })
    case 'register':
      return post(url + ROUTES.registration, input.body, 'application/json')
    default: {
      const route = input.kind === 'token' ? ROUTES.token : ROUTES.revocation
      const form = toForm(withClient(input.fields, world.client)).toString()
      return post(url + route, form, 'application/x-www-form-urlencoded')
    }
  }
}

/** Returns an address that is another for each document, so that each is fetched. */
function addressOf({ documents }: { documents: number }): string {
  return `${DOCUMENT_AT}?${documents}`
}

function checkClient({ status, json }: RawResponse): void {
  if (status !== 201) return
  const { redirect_uris, grant_types, ...client } = json as typeof CLIENT & Record<string, unknown>
  assert.ok(!('client_secret' in client), 'a client got a secret')
  assert.deepEqual(grant_types, CLIENT.grant_types)
  for (const uri of redirect_uris) assert.doesNotMatch(uri, /^(?:javascript|data|vbscript|file|blob):/i)
}

/** A browser goes to the page that asks the owner, or back to the client with an error; never on to a code. */
function checkRedirect(to: URL, { url }: World): void {
  assert.equal(to.searchParams.get('code'), null, 'nobody said yes')
  if (to.origin === url) assert.match(to.pathname, /^\/oauth\/consent\/[\w-]+$/)
  else assert.ok(to.searchParams.get('error'), 'a client is told nothing')
}

async function checkToken(written: string, { issuer, token }: World): Promise<void> {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const presented = written.replace('SIGNATURE', signature)
  for (const tried of [
    presented,
    `${header}.${payload}.${presented}`,
    `${header}.${presented}.${signature}`,
  ]) {
    const claims = await readAccessToken(tried, issuer, [AUDIENCE])
    if (claims !== undefined) assert.deepEqual(claims, decodeJwt(token))
  }
}

function post(url: string, body: string | Buffer, type: string): Promise<RawResponse> {
  return send(url, { method: 'POST', headers: { 'Content-Type': type }, body })
}

function withClient(fields: unknown, client: string): object {
  const given = typeof fields === 'object' && fields !== null ? fields : {}
  return 'client_id' in given && given.client_id === '' ? { ...given, client_id: client } : given
}

/** Writes a list as several fields of one name. */
function toForm(fields: object): URLSearchParams {
  const one = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
  return new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name.toWellFormed(), one(each).toWellFormed()]),
    ),
  )
}

function toPart(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
