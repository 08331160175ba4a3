import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { listRows } from '../support/audit-rows.ts'
import { openChat } from '../support/chat-client.ts'
import { openClient } from '../support/clients.ts'
import { INITIALIZE, mcpHeaders, type RawRequest, rpc, send } from '../support/raw-http.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { within } from '../support/until.ts'

const MIB = 1024 * 1024
let hub: TestHub

beforeAll(async () => {
  const config = 'hosts: [hub.home.arpa]\ntrustedProxies: [127.0.0.1]\nservers: { metrics: false }\n'
  hub = await startTestHub({ config })
})
afterAll(() => hub[Symbol.asyncDispose]())

/** Returns the stored conversations. */
async function stored(): Promise<unknown> {
  using chat = await openChat(hub)
  return (await chat.next('welcome')).conversations
}

/** Returns the answer to a WebSocket's upgrade request. */
async function upgrade(headers: Record<string, string>, protocols: string[] = [], path = '/ws') {
  const socket = new WebSocket(`${hub.url.replace('http', 'ws')}${path}`, protocols, { headers })
  const refused = once(socket, 'unexpected-response').then(async ([, response]) => {
    let text = ''
    for await (const chunk of response) text += chunk
    return { status: response.statusCode as number, text }
  })
  const opened = once(socket, 'open').then(() => ({ status: 101, text: '' }))
  socket.on('error', () => undefined)
  const answer = await within('an answer', Promise.race([refused, opened]))
  socket.terminate()
  return answer
}

describe('who may come in', () => {
  const cases: [string, (right: string) => RawRequest, number, RegExp][] = [
    ['no token', () => ({}), 401, /MCP at \/mcp needs the token: send "Authorization: Bearer <token>".*data/],
    [
      'a wrong token',
      () => ({ headers: { Authorization: 'Bearer wrong' } }),
      401,
      /does not take this token/,
    ],
    ['another scheme', () => ({ headers: { Authorization: 'Basic b3duZXI6' } }), 401, /needs the token/],
    [
      'a foreign Host',
      token => ({ headers: { ...mcpHeaders(token), Host: 'evil.example' } }),
      403,
      /Host "evil.example" is none of this hub's names.*hosts in superbloom.yaml/,
    ],
    [
      'a foreign Origin',
      token => ({ headers: { ...mcpHeaders(token), Origin: 'https://evil.example' } }),
      403,
      /Origin "https:\/\/evil.example" is none/,
    ],
    [
      'a hidden Origin',
      token => ({ headers: { ...mcpHeaders(token), Origin: 'null' } }),
      403,
      /Origin "null"/,
    ],
  ]
  test.each(cases)('/mcp refuses %s', async (_name, request, status, words) => {
    const answer = await send(`${hub.url}/mcp`, { method: 'POST', body: INITIALIZE, ...request(hub.token) })
    expect(answer.status).toBe(status)
    expect(answer.json).toMatchObject({ error: { message: expect.stringMatching(words) } })
    expect(answer.text).not.toContain(hub.token)
    expect(answer.headers['www-authenticate'] === undefined).toBe(status !== 401)
  })

  test('the token does not count in the address', async () => {
    const answer = await send(`${hub.url}/mcp?token=${hub.token}`, { method: 'POST', body: INITIALIZE })
    expect(answer.status).toBe(401)
    expect((await upgrade({}, ['superbloom.v1'], `/ws?token=${hub.token}`)).status).toBe(401)
  })

  test('names of the config and loopback names are ours, on every path', async () => {
    for (const Host of ['hub.home.arpa', 'HUB.home.arpa:8420', 'localhost:1', '127.0.0.1', '[::1]:8420']) {
      expect((await send(`${hub.url}/healthz`, { headers: { Host } })).status, Host).toBe(200)
    }
    const foreign = { Host: 'hub.home.arpa.evil.example' }
    for (const path of ['/', '/healthz', '/readyz', '/mcp', '/none']) {
      expect((await send(`${hub.url}${path}`, { headers: foreign })).status, path).toBe(403)
    }
  })

  test('a browser at a foreign name gets a page that says what to set; its name is text there', async () => {
    const Accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const open = (Host: string) => send(`${hub.url}/?c=1`, { headers: { Host, Accept } })
    const page = await open('NAS.local:8420')
    expect(page.status).toBe(403)
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; style-src 'sha256-/),
      'cache-control': 'no-store',
    })
    expect(page.text).toContain('<b>NAS.local:8420</b> is none of them')
    expect(page.text).toContain('<code>hosts: [&#34;nas.local&#34;]</code>')
    expect(page.text).toContain('SUPERBLOOM_PUBLIC_URL=http://NAS.local:8420')
    expect(page.text).not.toMatch(/home\.arpa|homelab|127\.0\.0\.1|data/)
    for (const hostile of ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', 'a&b<i>'])
      expect((await open(hostile)).text, hostile).not.toMatch(/<script|<img|<i>/)
    const program = await send(hub.url, { headers: { Host: 'nas.local', Accept: '*/*' } })
    expect(program.json).toMatchObject({ error: { code: 'forbidden' } })
  })

  test('/ws takes the token of the header or of the second subprotocol, and nothing else', async () => {
    const right = { Authorization: `Bearer ${hub.token}` }
    expect((await upgrade(right)).status).toBe(101)
    expect((await upgrade({}, ['superbloom.v1', `bearer.${hub.token}`])).status).toBe(101)
    expect(await upgrade({}, ['superbloom.v1', 'bearer.wrong'])).toMatchObject({
      status: 401,
      text: expect.stringMatching(/Chat at \/ws does not take this token/),
    })
    expect((await upgrade({ Authorization: 'Bearer wrong' })).status).toBe(401)
    expect(await upgrade({})).toMatchObject({ status: 401, text: expect.stringContaining('needs the token') })
    expect(await upgrade({ ...right, Host: 'evil.example' })).toMatchObject({
      status: 403,
      text: expect.stringContaining('Host'),
    })
    expect(await upgrade({ ...right, Origin: 'https://evil.example' })).toMatchObject({
      status: 403,
      text: expect.stringContaining('Origin'),
    })
    expect((await upgrade({ ...right, Origin: 'http://hub.home.arpa:8420' })).status).toBe(101)
    expect(await upgrade(right, [], '/elsewhere')).toMatchObject({
      status: 404,
      text: expect.stringContaining('/ws'),
    })
  })

  test('many wrong tokens lock the door for wrong ones, never for the right one', async () => {
    const wrong = (more: Record<string, string> = {}) =>
      send(`${hub.url}/mcp`, { method: 'POST', headers: mcpHeaders('wrong', more), body: INITIALIZE })
    const answers = await Promise.all(Array.from({ length: 30 }, () => wrong()))
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(10)
    expect((await wrong()).json).toMatchObject({
      error: { code: 'rate_limited', message: expect.stringContaining('wait') },
    })
    expect((await upgrade({}, ['superbloom.v1', 'bearer.wrong'])).status).toBe(429)
    // Another sender behind the same proxy.
    expect((await wrong({ 'X-Forwarded-For': '203.0.113.9' })).status).toBe(401)
    // A sender of IPv6 has a whole network of addresses.
    const spread = Array.from({ length: 30 }, (_, n) => wrong({ 'X-Forwarded-For': `2001:db8::${n}:1` }))
    expect((await Promise.all(spread)).filter(({ status }) => status === 429).length).toBeGreaterThan(10)
    expect((await wrong({ 'X-Forwarded-For': '2001:db8:0:1::1' })).status).toBe(401)
    await using client = await openClient('sdk 1', hub)
    expect(await client.listTools()).not.toEqual([])
    const refused = await listRows(client, { kinds: ['sign_in'] })
    expect(refused.map(({ details }) => JSON.stringify(details))).toContainEqual(
      expect.stringContaining('203.0.113.9'),
    )
    using chat = await openChat(hub)
    expect(await chat.subscribe('homelab')).toBeTypeOf('number')
  })

  test('who hangs up while being refused harms nobody', async () => {
    const { port } = new URL(hub.url)
    const request = `GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`
    for (let round = 0; round < 50; round++) {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      socket.write(request, () => socket.resetAndDestroy())
      await once(socket, 'close')
    }
    expect((await send(`${hub.url}/healthz`)).status).toBe(200)
  })
})

describe('what may come in at /mcp', () => {
  const cases: [string, RawRequest, number, RegExp][] = [
    ['half a JSON', { body: '{"jsonrpc":' }, 400, /POST \/mcp is not JSON/],
    ['a bare number', { body: '5' }, 400, /not JSON/],
    ['no body', {}, 400, /Content-Type is none; send application\/json|JSON-RPC/],
    ['an object of something else', { body: '{"a":1}' }, 400, /not a valid JSON-RPC message/],
    ['an empty batch', { body: '[]' }, 400, /batch/],
    [
      'text',
      { body: 'hello', headers: { 'Content-Type': 'text/plain' } },
      400,
      /text\/plain; send application\/json/,
    ],
    ['broken compression', { body: INITIALIZE, headers: { 'Content-Encoding': 'br' } }, 400, /POST \/mcp/],
    ['an unknown encoding', { body: INITIALIZE, headers: { 'Content-Encoding': 'lzma' } }, 400, /lzma/],
    ['a client that takes no stream', { body: INITIALIZE, headers: { Accept: 'text/html' } }, 406, /accept/i],
    [
      'over 1 MiB',
      { body: rpc('tools/call', { name: 'hub_chat', arguments: { message: 'x'.repeat(MIB) } }) },
      413,
      /The body of POST \/mcp is over 1048576 bytes/,
    ],
    [
      'a revision of the future',
      {
        body: rpc('tools/list', {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2099-01-01',
            'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        }),
        headers: { 'MCP-Protocol-Version': '2099-01-01', 'Mcp-Method': 'tools/list' },
      },
      400,
      /2099-01-01/,
    ],
  ]
  test.each(cases)('%s is refused, and nothing of it is stored', async (_name, request, status, words) => {
    const before = await stored()
    const answer = await send(`${hub.url}/mcp`, {
      method: 'POST',
      ...request,
      headers: mcpHeaders(hub.token, request.headers),
    })
    expect(answer.status).toBe(status)
    expect(JSON.stringify(answer.json)).toMatch(words)
    expect(answer.text).not.toMatch(/\bat .*\.ts:|node_modules/)
    expect(await stored()).toEqual(before)
  })

  test('an address that is none says so', async () => {
    for (const path of ['/none', '/..%2f..%2fpackage.json', '/%zz', '/vendor/none.js']) {
      const answer = await send(`${hub.url}${path}`)
      expect([400, 404], path).toContain(answer.status)
      expect(answer.json, path).toMatchObject({ error: { message: expect.stringContaining('GET') } })
    }
  })
})

test('whatever /mcp answers, browsers may neither guess its type nor tell where they came from', async () => {
  const url = `${hub.url}/mcp`
  const post = (body: string, more: Record<string, string> = {}) =>
    send(url, { method: 'POST', headers: mcpHeaders(hub.token, more), body })
  const modern = (method: string) => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, 'Mcp-Name': 'nowhere' }
    return post(
      rpc(method, { ...(method === 'tools/call' ? { name: 'nowhere' } : {}), _meta: meta }),
      headers,
    )
  }
  const opened = await post(INITIALIZE)
  const session = { 'Mcp-Session-Id': String(opened.headers['mcp-session-id']) }
  const answers = [
    opened,
    await post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }), session),
    await post(rpc('tools/list'), session),
    await post(rpc('tools/call', { name: 'nowhere' }), session),
    await post(rpc('tools/list'), { 'Mcp-Session-Id': 'unknown' }),
    await modern('tools/list'),
    await modern('tools/call'),
    await modern('server/discover'),
    await send(url),
    await post('{'),
  ]
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 202, 400, 401, 404]))
  for (const { headers } of answers) {
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
  }
})
