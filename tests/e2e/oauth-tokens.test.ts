import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../hub/core/clock.ts'
import { errorOf, OAuthRequests, toTokens } from '../support/oauth-requests.ts'
import { send } from '../support/raw-http.ts'
import { AGENT, make } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

let hub: TestHub
let oauth: OAuthRequests
/** Milliseconds by which the hub's time is ahead. */
let ahead = 0
beforeAll(async () => {
  hub = await startTestHub({
    config: JSON.stringify({
      servers: { metrics: false },
      toolsets: { some: ['hub_chat'] },
      authorization: { issuer: 'own' },
    }),
    agents: { homelab: AGENT(true) },
    overrides: { clock: { ...systemClock, now: () => systemClock.now() + ahead } },
  })
  oauth = new OAuthRequests(hub)
  oauth.client = await oauth.register()
})
afterAll(() => hub[Symbol.asyncDispose]())

describe('codes and tokens', () => {
  test('a code of somebody else is worth nothing', async () => {
    const code = await oauth.allow()
    const other = await oauth.register()
    expect(errorOf(await oauth.redeem(code, { client_id: other }))).toEqual([400, 'invalid_grant'])
    expect(errorOf(await oauth.redeem(code, { code_verifier: 'a'.repeat(43) }))).toEqual([
      400,
      'invalid_grant',
    ])
    const elsewhere = { redirect_uri: 'http://127.0.0.1:2/callback' }
    expect(errorOf(await oauth.redeem(code, elsewhere))).toEqual([400, 'invalid_grant'])
  })

  test('a code works once; used again it ends what it gave', async () => {
    const code = await oauth.allow()
    const first = toTokens(await oauth.redeem(code))
    expect(await oauth.enter(first.access_token)).toBe(200)
    expect(errorOf(await oauth.redeem(code))).toEqual([400, 'invalid_grant'])
    expect(await oauth.enter(first.access_token)).toBe(401)
    expect(errorOf(await oauth.refresh(first.refresh_token))).toEqual([400, 'invalid_grant'])
  })

  test('a refresh token that comes again after a minute ends the grant', async () => {
    const first = await oauth.signIn()
    const second = toTokens(await oauth.refresh(first.refresh_token))
    expect(await oauth.enter(second.access_token)).toBe(200)
    ahead += 60_000
    expect(errorOf(await oauth.refresh(first.refresh_token))).toEqual([400, 'invalid_grant'])
    expect(await oauth.enter(second.access_token)).toBe(401)
    expect(errorOf(await oauth.refresh(second.refresh_token))).toEqual([400, 'invalid_grant'])
  })

  test('two that share a refresh token and use it at once stay signed in', async () => {
    const { refresh_token } = await oauth.signIn()
    const answers = await Promise.all([oauth.refresh(refresh_token), oauth.refresh(refresh_token)])
    for (const answer of answers) {
      const { access_token, refresh_token: next } = toTokens(answer)
      expect(await oauth.enter(access_token)).toBe(200)
      expect((await oauth.refresh(next)).status).toBe(200)
    }
  })

  test('a client gives its tokens back, and they open nothing any more', async () => {
    const { access_token, refresh_token } = await oauth.signIn()
    expect(
      (await oauth.post('/oauth/revoke', { token: refresh_token, client_id: oauth.client })).status,
    ).toBe(200)
    expect(await oauth.enter(access_token)).toBe(401)
  })

  test('what the owner revoked cannot be refreshed', async () => {
    const { access_token, refresh_token } = await oauth.signIn()
    for (const name of await oauth.grants()) await make(hub, 'hub_revoke_token', { which: name })
    expect(await oauth.enter(access_token)).toBe(401)
    expect(errorOf(await oauth.refresh(refresh_token))).toEqual([400, 'invalid_grant'])
  })

  test('a token for a toolset opens that alone; one for /mcp opens both', async () => {
    const resource = `${hub.url}/mcp/some`
    const narrow = (await oauth.signIn({ resource })).access_token
    const wide = (await oauth.signIn()).access_token
    const opened = [narrow, wide].map(token => ['/mcp', '/mcp/some'].map(path => oauth.enter(token, path)))
    expect(await Promise.all(opened.map(one => Promise.all(one)))).toEqual([
      [401, 200],
      [200, 200],
    ])
  })

  test('an access token opens no other door', async () => {
    const { access_token } = await oauth.signIn()
    const headers = { Authorization: `Bearer ${access_token}` }
    for (const [method, path] of [
      ['POST', '/session'],
      ['POST', '/hooks/x'],
      ['POST', '/oauth/logins'],
      ['GET', '/metrics'],
    ] as const)
      expect([path, (await send(hub.url + path, { method, headers })).status]).toEqual([path, 401])
  })

  test('codes, tokens and the ids of grants are no tokens of the hub', async () => {
    const code = await oauth.allow()
    const { access_token, refresh_token } = toTokens(await oauth.redeem(code))
    const { grant } = JSON.parse(Buffer.from(access_token.split('.')[1] ?? '', 'base64url').toString()) as {
      grant: string
    }
    for (const wrong of [code, refresh_token, grant]) expect([401, 429]).toContain(await oauth.enter(wrong))
  })

  test('behind a proxy with https: the hub keeps no secret, and knows its clients after a restart', async () => {
    const origin = 'https://hub.example.org'
    await using other = await startTestHub({
      config: JSON.stringify({ servers: { metrics: false }, authorization: { issuer: 'own' } }),
      variables: { SUPERBLOOM_PUBLIC_URL: origin },
    })
    const behind = new OAuthRequests(other, origin)
    behind.client = await behind.register()
    const code = await behind.allow()
    const { access_token, refresh_token } = toTokens(await behind.redeem(code))
    await other.stop()
    const stored = readFileSync(join(other.dataFolder, 'superbloom.db'), 'latin1')
    for (const secret of [code, access_token, refresh_token]) expect(stored.includes(secret)).toBe(false)
    await other.start()
    expect(await behind.enter(access_token)).toBe(200)
    expect(await behind.enter(toTokens(await behind.refresh(refresh_token)).access_token)).toBe(200)
    expect(await behind.grants()).toEqual(['mallory'])
  })
})
