import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openChat } from '../support/chat-client.ts'
import { LINES, openClient, textOf } from '../support/clients.ts'
import { type Configured, recorder, untilReady } from '../support/downstream.ts'
import { INITIALIZE, mcpHeaders, rpc, send } from '../support/raw-http.ts'
import { AGENT, bearer, invite, make, signIn } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { within } from '../support/until.ts'

let hub: TestHub
let rec: Configured
/** Tokens by role; besides, ones that open nothing any more. */
let tokens: Record<Credential, string | undefined>

beforeAll(async () => {
  rec = recorder()
  hub = await startTestHub({
    config: JSON.stringify({
      authorization: { issuer: 'own' },
      servers: { metrics: false, rec: rec.entry },
      toolsets: { some: ['rec__*'] },
      webhooks: { radarr: { secret: 'a secret of radarr' } },
    }),
    agents: { homelab: AGENT(false), family: AGENT('[family/kitchen]') },
  })
  await untilReady(hub, 'rec')
  const create = (name: string, role: string, more = {}) =>
    make(hub, 'hub_create_token', { name, role, ...more })
  tokens = {
    nobody: undefined,
    wrong: 'sb_not-the-one',
    owner: hub.token,
    member: await signIn(hub, await invite(hub, 'anna', 'member')),
    guest: await signIn(hub, await invite(hub, 'gus', 'guest')),
    client: await create('desk', 'client'),
    narrow: await create('narrow', 'client', { tools: ['hub_list_agents'] }),
    hook: await create('radarr', 'hook'),
    otherHook: await create('sonarr', 'hook'),
    metrics: await create('prometheus', 'metrics'),
    revoked: await create('gone', 'client'),
    expired: await create('over', 'client', { expiresIn: '0s' }),
    usedLink: await invite(hub, 'lea', 'member'),
  }
  await signIn(hub, tokens.usedLink ?? '')
  await make(hub, 'hub_revoke_token', { which: 'gone' })
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  rec[Symbol.dispose]()
})

const CREDENTIALS = [
  'nobody',
  'wrong',
  'owner',
  'member',
  'guest',
  'client',
  'narrow',
  'hook',
  'otherHook',
  'metrics',
  'revoked',
  'expired',
  'usedLink',
] as const
type Credential = (typeof CREDENTIALS)[number]

const http = (method: string, path: string, body?: string) => async (token: string | undefined) => {
  const headers = { ...bearer(token), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) }
  return (await send(`${hub.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) }))
    .status
}
const mcp = (path: string) => async (token: string | undefined) => {
  const { Authorization: _, ...headers } = mcpHeaders('')
  const request = { method: 'POST', headers: { ...headers, ...bearer(token) }, body: INITIALIZE }
  return (await send(`${hub.url}${path}`, request)).status
}

async function upgrade(token: string | undefined): Promise<number> {
  const socket = new WebSocket(`${hub.url.replace('http', 'ws')}/ws`, 'superbloom.v1', {
    headers: bearer(token),
  })
  socket.on('error', () => undefined)
  const refused = once(socket, 'unexpected-response').then(([, { statusCode }]) => Number(statusCode))
  const status = await within('an answer', Promise.race([refused, once(socket, 'open').then(() => 101)]))
  socket.terminate()
  return status
}

const CLOSED = { nobody: 401, wrong: 401, revoked: 401, expired: 401, usedLink: 401 }
const OTHERS = ['member', 'guest', 'client', 'narrow', 'hook', 'otherHook', 'metrics']
const ONLY_OWNER: Record<string, number> = {
  ...CLOSED,
  ...Object.fromEntries(OTHERS.map(one => [one, 403])),
}
const PROGRAMS = { ...ONLY_OWNER, owner: 200, member: 200, guest: 200, client: 200, narrow: 200 }
const senders = (status: number) => ({
  ...ONLY_OWNER,
  owner: status,
  member: status,
  client: status,
})
const open = (status: number) => Object.fromEntries(CREDENTIALS.map(one => [one, status]))
const LOGIN = JSON.stringify({ server: 'none' })

/** Every door, how it is entered, and what each credential gets there. */
const DOORS: Record<string, [enter: (token: string | undefined) => Promise<number>, Record<string, number>]> =
  {
    'GET /': [http('GET', '/'), open(200)],
    'GET /healthz': [http('GET', '/healthz'), open(200)],
    'GET /readyz': [http('GET', '/readyz'), open(200)],
    'GET /metrics': [http('GET', '/metrics'), { ...ONLY_OWNER, owner: 200, metrics: 200 }],
    'GET /none': [http('GET', '/none'), open(404)],
    '/mcp': [mcp('/mcp'), PROGRAMS],
    '/mcp/<toolset>': [mcp('/mcp/some'), PROGRAMS],
    '/mcp?tools=lean': [mcp('/mcp?tools=lean'), PROGRAMS],
    '/ws': [upgrade, { ...PROGRAMS, owner: 101, member: 101, guest: 101, client: 101, narrow: 403 }],
    'POST /hooks/:name': [http('POST', '/hooks/radarr', '{}'), { ...ONLY_OWNER, owner: 202, hook: 202 }],
    'GET /v1/models': [http('GET', '/v1/models'), { ...PROGRAMS, narrow: 403 }],
    'POST /v1/chat/completions': [
      http('POST', '/v1/chat/completions', '{}'),
      { ...ONLY_OWNER, owner: 400, member: 400, guest: 400, client: 400 },
    ],
    // The key of a button is in the path; no token opens it.
    'POST /a/:key': [http('POST', '/a/none', '{}'), open(404)],
    'ALL /a/:key': [http('GET', '/a/none'), open(405)],
    'POST /session': [http('POST', '/session'), { ...ONLY_OWNER, owner: 201, member: 409, guest: 409 }],
    'DELETE /session': [
      // The sessions of the other tests are not to end here.
      async token => {
        const role = (['member', 'guest'] as const).find(each => tokens[each] === token)
        const secret = role ? await signIn(hub, await invite(hub, `other-${role}`, role)) : token
        return http('DELETE', '/session')(secret)
      },
      { ...ONLY_OWNER, owner: 400, member: 204, guest: 204 },
    ],
    'GET /session/push': [http('GET', '/session/push'), { ...ONLY_OWNER, owner: 200 }],
    'PUT /session/push': [http('PUT', '/session/push', '{}'), { ...ONLY_OWNER, owner: 400 }],
    'POST /session/push': [http('POST', '/session/push'), { ...ONLY_OWNER, owner: 404 }],
    'DELETE /session/push': [http('DELETE', '/session/push'), { ...ONLY_OWNER, owner: 204 }],
    'POST /files': [http('POST', '/files', 'x'), senders(400)],
    'GET /files/:id': [http('GET', '/files/none'), senders(404)],
    'GET /.well-known/oauth-protected-resource': [
      http('GET', '/.well-known/oauth-protected-resource'),
      open(200),
    ],
    'GET /.well-known/oauth-protected-resource/mcp': [
      http('GET', '/.well-known/oauth-protected-resource/mcp'),
      open(200),
    ],
    'GET /.well-known/oauth-protected-resource/mcp/:toolset': [
      http('GET', '/.well-known/oauth-protected-resource/mcp/some'),
      open(200),
    ],
    'GET /.well-known/oauth-authorization-server': [
      http('GET', '/.well-known/oauth-authorization-server'),
      open(200),
    ],
    'GET /.well-known/openid-configuration': [http('GET', '/.well-known/openid-configuration'), open(200)],
    'GET /oauth/jwks': [http('GET', '/oauth/jwks'), open(200)],
    // Nobody's token opens these: what they answer follows from codes and cookies.
    'GET /oauth/authorize': [http('GET', '/oauth/authorize'), open(400)],
    'GET /oauth/authorize/:uid': [http('GET', '/oauth/authorize/none'), open(400)],
    'GET /oauth/consent/:uid': [http('GET', '/oauth/consent/none'), open(400)],
    'POST /oauth/consent/:uid': [http('POST', '/oauth/consent/none'), open(400)],
    'POST /oauth/token': [http('POST', '/oauth/token'), open(400)],
    'POST /oauth/register': [http('POST', '/oauth/register', '{}'), open(400)],
    'POST /oauth/revoke': [http('POST', '/oauth/revoke'), open(400)],
    'GET /oauth/callback': [http('GET', '/oauth/callback?state=none'), open(400)],
    'POST /oauth/logins': [http('POST', '/oauth/logins', LOGIN), { ...ONLY_OWNER, owner: 404 }],
    'GET /oauth/logins/:state': [http('GET', '/oauth/logins/none'), { ...ONLY_OWNER, owner: 404 }],
    'DELETE /oauth/servers/:server': [http('DELETE', '/oauth/servers/none'), { ...ONLY_OWNER, owner: 200 }],
  }

describe('doors by credentials', () => {
  test('every door that the hub opens stands in the table', () => {
    const folder = join(import.meta.dirname, '../../hub/http')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file =>
      /(?<!\.test)\.ts$/.test(file),
    )
    const text = files.map(file => readFileSync(join(folder, file), 'utf8')).join('\n')
    const constants = new Map(
      [...text.matchAll(/const (\w+) = '(\/[^']*)'/g)].map(([, name, path]) => [name, path]),
    )
    const found = [
      ...text.matchAll(/\b(?:app|router)\.(get|post|put|patch|delete|all)\(\s*(?:'([^']+)'|([A-Z]\w+))/g),
    ]
    const routes = found.map(
      ([, method = '', path, name]) => `${method.toUpperCase()} ${path ?? constants.get(name)}`,
    )
    expect(routes.length).toBeGreaterThan(6)
    expect(routes.filter(route => !(route in DOORS))).toEqual([])
  })

  const rows = Object.keys(DOORS).flatMap(door => CREDENTIALS.map(one => [door, one] as const))
  test.each(rows)('%s with %s', async (door, credential) => {
    const [enter, expected] = DOORS[door] ?? []
    // Wrong tokens are limited; what is tested here is not how many of them there may be.
    const status = await enter?.(tokens[credential])
    const right = expected?.[credential]
    const isLimited = right === 401 || door === 'POST /a/:key'
    expect([right, isLimited ? 429 : right]).toContain(status)
  })
})

/** Returns the answer of a refused or failed call. */
async function refusal(token: string | undefined, name: string, args: object = {}): Promise<string> {
  await using client = await openClient('sdk 2, 2026-07-28', { url: hub.url, token: token ?? '' })
  const result = await client.call(name, { ...args })
  return result.isError ? textOf(result) : 'done'
}

describe('what each role may do behind the doors', () => {
  const lists: [Credential, RegExp[], RegExp[]][] = [
    ['owner', [/^hub_create_token$/, /^hub_list_threads$/, /^rec__/], []],
    [
      'client',
      [/^hub_list_threads$/, /^hub_chat$/, /^rec__/],
      [/^hub_(create|revoke|list)_tokens?$/, /^hub_accept/, /_programs?$/, /^hub_set_/, /^hub_delete_/],
    ],
    ['narrow', [/^hub_list_agents$/], [/^(?!hub_list_agents$)/]],
    [
      'member',
      [/^hub_chat$/, /^hub_change_conversation$/, /^hub_stop$/, /^rec__/],
      [/token/, /thread/, /_call$/, /schedule/, /event/, /status/, /_programs?$/, /^hub_set_/],
    ],
    ['guest', [/^hub_chat$/, /^hub_read_messages$/], [/token/, /thread/, /schedule/, /stop/, /^rec__/]],
  ]
  test.each(lists)('%s sees its tools in every client, and in the lean mode', async (role, seen, hidden) => {
    for (const line of LINES) {
      await using client = await openClient(line, { url: hub.url, token: tokens[role] ?? '' })
      const names = (await client.listTools()).map(({ name }) => name)
      for (const one of seen) expect(names, line).toContainEqual(expect.stringMatching(one))
      for (const one of hidden) expect(names, line).not.toContainEqual(expect.stringMatching(one))
    }
    await using lean = await openClient(LINES[0], {
      url: hub.url,
      token: tokens[role] ?? '',
      path: '/mcp?tools=lean',
    })
    for (const one of ['hub_create_token', 'hub_list_threads']) {
      const isTheirs = !hidden.some(pattern => pattern.test(one))
      const found = textOf(await lean.call('find_tools', { query: one.replaceAll('_', ' '), limit: 20 }))
      expect(found.includes(one), one).toBe(isTheirs)
      const called = await lean.call('call_tool', {
        name: one,
        arguments: one === 'hub_list_threads' ? {} : { name: 'UPPER' },
      })
      expect(/is not for/.test(textOf(called)), one).toBe(!isTheirs)
    }
  })

  test('a refusal says who asks, why not, and who can change that', async () => {
    expect(await refusal(tokens.narrow, 'hub_status')).toMatch(
      /not for narrow, .* may use only hub_list_agents/,
    )
    expect(await refusal(tokens.client, 'hub_create_token', { name: 'x' })).toMatch(
      /not for desk.*role client/,
    )
    expect(await refusal(tokens.guest, 'rec__record')).toMatch(/not for gus.*role guest.*superbloom tokens/)
  })

  test('people see agents that are shared, and the conversations of their own', async () => {
    const agents = async (token: string | undefined) => {
      using chat = await openChat({ url: hub.url, token: token ?? '' })
      const { agents, conversations, you } = await chat.next('welcome')
      return [you.role, agents.map(({ name }) => name), conversations.map(({ id }) => id)]
    }
    expect(await agents(tokens.member)).toEqual(['member', ['family'], ['family/anna', 'family/kitchen']])
    expect(await agents(tokens.guest)).toEqual(['guest', ['family'], ['family/gus']])
    for (const [who, conversation] of [
      ['member', 'homelab'],
      ['member', 'family'],
      ['member', 'family/gus'],
      ['guest', 'family'],
      ['guest', 'family/anna'],
      ['guest', 'family/gus-2'],
      ['guest', 'family/mcp-gus-2'],
      ['client', 'homelab/mcp-narrow'],
    ] as const) {
      using chat = await openChat({ url: hub.url, token: tokens[who] ?? '' })
      for (const frame of [
        { type: 'subscribe', conversation, after: 0 },
        { type: 'message', conversation, text: 'hi' },
        { type: 'stop', conversation },
      ] as const) {
        const from = chat.frames.all.length
        chat.send(frame)
        const answer = await chat.frames.find('a refusal', ({ type }) => type === 'error', from)
        expect([who, frame.type, answer]).toMatchObject([who, frame.type, { code: 'forbidden' }])
      }
      expect(await refusal(tokens[who], 'hub_read_messages', { conversation })).toMatch(/not open to/)
      const change = { conversation, title: 'Mine' }
      expect(await refusal(tokens[who], 'hub_change_conversation', change)).toMatch(/not open to/)
      expect(await refusal(tokens[who], 'hub_chat', { message: 'hi', conversation })).toMatch(
        /not open to|no agent/,
      )
    }
  })

  test('a session of /mcp belongs to the token that began it', async () => {
    const begun = await send(`${hub.url}/mcp`, {
      method: 'POST',
      headers: mcpHeaders(tokens.client ?? ''),
      body: INITIALIZE,
    })
    const session = { 'Mcp-Session-Id': String(begun.headers['mcp-session-id']) }
    const list = async (token: string | undefined) => {
      const headers = mcpHeaders(token ?? '', session)
      return (await send(`${hub.url}/mcp`, { method: 'POST', headers, body: rpc('tools/list') })).status
    }
    expect([await list(tokens.client), await list(tokens.owner), await list(tokens.member)]).toEqual([
      200, 404, 404,
    ])
  })
})
