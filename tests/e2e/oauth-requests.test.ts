import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CALLBACK } from '../support/oauth-client.ts'
import { OAuthRequests, VERIFIER } from '../support/oauth-requests.ts'
import { send } from '../support/raw-http.ts'
import { AGENT, invite, make, signIn } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

let hub: TestHub
let oauth: OAuthRequests
beforeAll(async () => {
  hub = await startTestHub({
    config: JSON.stringify({
      servers: { metrics: false },
      toolsets: { some: ['hub_chat'] },
      authorization: { issuer: 'own' },
    }),
    agents: { homelab: AGENT(true) },
  })
  oauth = new OAuthRequests(hub)
  oauth.client = await oauth.register()
})
afterAll(() => hub[Symbol.asyncDispose]())

describe('authorization requests', () => {
  test.each<[string, Record<string, string | undefined>, RegExp]>([
    ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, /error=invalid_request/],
    ['plain PKCE', { code_challenge: VERIFIER, code_challenge_method: 'plain' }, /error=invalid_request/],
    ['another response type', { response_type: 'token' }, /error=unsupported_response_type/],
    ['another resource', { resource: 'https://elsewhere.example/mcp' }, /error=invalid_target/],
    ["a toolset that is not the hub's", { resource: 'http://HUB/mcp/none' }, /error=invalid_target/],
  ])('%s is refused', async (_what, more, error) => {
    const { at } = await oauth.ask({
      ...more,
      ...(more['resource'] && { resource: more['resource'].replace('http://HUB', hub.url) }),
    })
    expect(at).toMatch(error)
    expect(at.startsWith(CALLBACK)).toBe(true)
  })

  test.each([
    ['another host', 'https://evil.example/callback'],
    ['another path', 'http://127.0.0.1:1/other'],
    ['a path below', `${CALLBACK}/more`],
    ['another query', `${CALLBACK}?next=evil`],
    ['a name before the host', 'http://127.0.0.1:1@evil.example/callback'],
    ['another scheme', 'https://127.0.0.1:1/callback'],
  ])('a redirect to %s is not followed', async (_what, redirect_uri) => {
    const { status, at } = await oauth.ask({ redirect_uri })
    expect([status, new URL(at).origin]).toEqual([400, hub.url])
  })

  test('any port of loopback is the same client, as RFC 8252 has it', async () => {
    expect((await oauth.ask({ redirect_uri: 'http://127.0.0.1:5555/callback' })).text).toContain(
      '127.0.0.1:5555',
    )
  })

  test.each([
    [{ redirect_uris: ['http://evil.example/callback'] }],
    [{ redirect_uris: ['javascript:alert(1)'] }],
    [{ redirect_uris: [] }],
    [{ redirect_uris: ['https://a.example/#fragment'] }],
    [{ token_endpoint_auth_method: 'private_key_jwt' }],
    [{ client_name: 'x'.repeat(8_000) }],
  ])('a client with %j is not registered', async metadata => {
    expect((await oauth.postClient(metadata)).status).toBe(400)
  })

  test('a client that wants http beyond loopback gets no page to say yes on', async () => {
    const redirect = 'http://evil.example/callback'
    const id = await oauth.register({ application_type: 'web', redirect_uris: [redirect] })
    const { status, text } = await oauth.ask({ client_id: id, redirect_uri: redirect })
    expect([status, text]).toEqual([400, expect.stringContaining('not https')])
  })

  test('a client gets no secret and no more than any other, whatever it registers', async () => {
    const { json } = await oauth.postClient({
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['client_credentials', 'implicit'],
      scope: 'openid admin',
    })
    expect(json).not.toHaveProperty('client_secret')
    expect(json).toMatchObject({
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    })
  })

  test('documents of clients are not fetched from inside', async () => {
    let visits = 0
    const inside = createServer(socket => {
      visits++
      socket.destroy()
    })
    await new Promise<void>(resolve => inside.listen(0, '127.0.0.1', resolve))
    const { port } = inside.address() as { port: number }
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433'])
      expect((await oauth.ask({ client_id: `https://${host}:${port}/client.json` })).status).toBe(400)
    expect(visits).toBe(0)
    await new Promise(resolve => inside.close(resolve))
  })
})

test.each(['/OAUTH/AUTHORIZE', '/oauth/authorize/'])(
  '%s knows no more parameters than the address',
  async path => {
    const url = oauth.authorize({ scope: 'openid', prompt: 'none' }).replace('/oauth/authorize', path)
    const { at, status } = await oauth.browser().open(url)
    expect([at, status]).toEqual([expect.stringContaining('/oauth/consent/'), 200])
  },
)

describe('the page of consent', () => {
  test('shows who asks and where the answer goes, and no page can frame or script it', async () => {
    const id = await oauth.register({ client_name: '<script>alert(1)</script>Claude' })
    const { status, text, headers } = await oauth.ask({ client_id: id })
    expect(status).toBe(200)
    expect(text).toContain('&#60;script&#62;alert(1)')
    expect(text).not.toContain('<script>')
    for (const shown of ['nobody checked it', '127.0.0.1:1', `${hub.url}/mcp`]) expect(text).toContain(shown)
    const policy = String(headers['content-security-policy'])
    for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "script-src 'self'"])
      expect(policy).toContain(rule)
    expect(policy).not.toContain('unsafe')
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'cache-control': 'no-store' })
  })

  test('a name looks like nothing that the hub says', async () => {
    const id = await oauth.register({ client_name: 'Claude”, the program of \u202eia.edualc\u200b' })
    expect((await oauth.ask({ client_id: id })).text).toContain(
      '<dt>It calls itself<dd>Claude”, the program of ia.edualc<dt>It is<dd>a program that chose this name',
    )
    const nameless = await oauth.register({ client_name: '\u200b' })
    expect((await oauth.ask({ client_id: nameless })).text).toContain('<dt>It calls itself<dd>client<dt>')
  })

  test('no host can add to its policy', async () => {
    const redirect = 'https://evil.example;sandbox/callback'
    const id = await oauth.register({ redirect_uris: [redirect] })
    const { status, headers } = await oauth.ask({ client_id: id, redirect_uri: redirect })
    expect([status, String(headers['content-security-policy'])]).toEqual([
      400,
      expect.not.stringContaining('sandbox'),
    ])
  })

  test('an answer that is neither yes nor no is a mistake of the browser', async () => {
    const browser = oauth.browser()
    const { at } = await browser.open(oauth.authorize())
    const { status, text } = await browser.open(at, { token: hub.token, decision: 'maybe' })
    expect([status, text]).toEqual([400, expect.stringContaining('allow or deny')])
  })

  test('answers only the browser that asked', async () => {
    const page = await oauth.ask()
    const answer = { token: hub.token, decision: 'allow' }
    expect((await oauth.browser().open(page.at)).status).toBe(400)
    const other = oauth.browser()
    await other.open(oauth.authorize())
    expect((await other.open(page.at, answer)).status).toBe(400)
  })

  test.each(['https://evil.example', 'null'])('takes no form of the origin %s', async origin => {
    const { at } = await oauth.ask()
    const { status } = await send(at, { method: 'POST', headers: { Origin: origin }, body: '' })
    expect(status).toBe(403)
  })

  test('takes the yes of nobody but the owner', async () => {
    const member = await signIn(hub, await invite(hub, 'anna', 'member'))
    const program = await make(hub, 'hub_create_token', { name: 'desk', role: 'client' })
    for (const [token, right] of [
      ['', 401],
      ['sb_wrong', 401],
      [member, 403],
      [program, 403],
    ] as const) {
      const browser = oauth.browser()
      const page = await browser.open(oauth.authorize())
      const { status, at, text } = await browser.open(page.at, { token, decision: 'allow' })
      expect([status, at]).toEqual([right, page.at])
      expect(text).toContain('role="alert"')
      expect(text).not.toContain(token || 'sb_')
    }
  })

  test('a no goes back to the client, and needs no token', async () => {
    const browser = oauth.browser()
    const { at } = await browser.open((await browser.open(oauth.authorize())).at, { decision: 'deny' })
    const answer = new URL(at).searchParams
    expect([answer.get('error'), answer.get('state'), answer.get('code')]).toEqual([
      'access_denied',
      'x',
      null,
    ])
  })

  test('asks again though the same browser said yes before', async () => {
    const browser = oauth.browser()
    await browser.open((await browser.open(oauth.authorize())).at, { token: hub.token, decision: 'allow' })
    expect((await browser.open(oauth.authorize())).text).toContain('Allow')
  })
})
