import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { Guard } from '../support/http-servers.ts'
import { OAuthWorld } from '../support/oauth-world.ts'
import { until } from '../support/until.ts'

/** A server that is none of the upstream server's business, at a host that the entry does not name. */
async function startInside() {
  let requests = 0
  const server = createServer((_request, response) => {
    requests++
    response.end('{}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://localhost:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests
    },
    [Symbol.dispose]: () => void server.close(),
  }
}

/** What a server names for its login; what is left out is at the server itself. */
type Named = Partial<Record<'metadata' | 'issuer' | 'registration' | 'token', string>>

const answer = (response: Parameters<Guard>[1], body: object, status = 200, headers = {}) => {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
  return false
}

/** A server that logs people in by itself, apart from what it names elsewhere. */
const guardNaming =
  ({ metadata, issuer, registration, token }: Named): Guard =>
  (request, response, url) => {
    const { origin } = new URL(url)
    const path = request.url?.split('?', 1)[0]
    if (path === '/.well-known/oauth-protected-resource/mcp')
      return answer(response, { resource: url, authorization_servers: [issuer ?? origin] })
    if (path === '/.well-known/oauth-authorization-server')
      return answer(response, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: token ?? `${origin}/token`,
        registration_endpoint: registration ?? `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      })
    if (path === '/register') return answer(response, { client_id: 'hub', redirect_uris: [] }, 201)
    const where = metadata ?? `${origin}/.well-known/oauth-protected-resource/mcp`
    return answer(response, {}, 401, { 'WWW-Authenticate': `Bearer resource_metadata="${where}"` })
  }

const REFUSED = /localhost is in a private network .*: add oauth: { hosts: \["localhost"\] } if it is yours/

test('a server that names a private host for its metadata: it is not asked there', async () => {
  using inside = await startInside()
  await using world = await OAuthWorld.open({ guard: () => guardNaming({ metadata: `${inside.address}/x` }) })
  await world.untilAsked()
  // The metadata at the server itself counts then.
  expect((await world.beginLogin()).url).toContain(`${new URL(world.remote.url).origin}/authorize`)
  expect(inside.requests).toBe(0)
})

test.each(['issuer', 'registration'] as const)(
  'a server that names a private host as its %s: nothing is asked there',
  async what => {
    using inside = await startInside()
    await using world = await OAuthWorld.open({ guard: () => guardNaming({ [what]: `${inside.address}/x` }) })
    await world.untilAsked()
    await expect(world.beginLogin()).rejects.toThrow(REFUSED)
    expect(inside.requests).toBe(0)
  },
)

test('a server that names a private host for tokens: no code is sent there', async () => {
  using inside = await startInside()
  await using world = await OAuthWorld.open({
    guard: () => guardNaming({ token: `${inside.address}/token` }),
  })
  await world.untilAsked()
  const { state } = await world.beginLogin()
  const back = await fetch(new URL(`/oauth/callback?code=mine&state=${state}`, world.hub.url))
  expect(back.status).toBe(400)
  expect(await world.look(state)).toMatchObject({ error: expect.stringMatching(REFUSED) })
  expect(inside.requests).toBe(0)
})

test('a server whose metadata are a stream of events without end: they are not read on', async () => {
  let left = 0
  const piece = `data: ${'x'.repeat(64 * 1024)}\n\n`
  const guard: Guard = (request, response, url) => {
    if (!request.url?.startsWith('/.well-known/')) return guardNaming({})(request, response, url)
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.on('close', () => left++)
    const more = () => void (response.destroyed || response.write(piece, () => setImmediate(more)))
    more()
    return false
  }
  await using world = await OAuthWorld.open({ guard: () => guard })
  await world.untilAsked()
  await expect(world.beginLogin()).rejects.toThrow(/it sent a message over 10485760 bytes/)
  await until('none of them is read', () => left >= 2)
})

test('an authorization server at home is asked once the entry names its host', async () => {
  await using world = await OAuthWorld.open({ host: 'localhost', entry: { oauth: { hosts: ['localhost'] } } })
  await world.untilAsked()
  await world.logIn()
  expect(await world.call('remote__one')).toBe('one')
})
