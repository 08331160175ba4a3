import { request } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { type Served, serve } from './serve.ts'
import { CLIENT_KINDS, connectClient, within } from './testing/clients.ts'
import { createFixtureServer } from './testing/fixture-server.ts'

const TOKEN = 'a-token-for-tests'
const log = () => undefined
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
}
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

let served: Served | undefined
afterEach(async () => {
  await served?.[Symbol.asyncDispose]()
  served = undefined
})

async function start(options: { allowedHosts?: string[] } = {}) {
  served = await serve(createFixtureServer(), {
    transport: { kind: 'http', port: 0, token: TOKEN, ...options },
    environment: {},
    log,
  })
  return served.url ?? ''
}

/** Sends one raw request: fetch would not let a test choose the Host header. */
function knock(
  url: string,
  options: { method?: string; path?: string; headers?: Record<string, string>; body?: string },
) {
  const { method = 'POST', path = '/mcp', headers = {}, body } = options
  return new Promise<{ status: number; text: string; headers: Record<string, unknown> }>(
    (resolve, reject) => {
      const sent = request(new URL(path, url), { method, headers }, response => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', chunk => {
          text += chunk
        })
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
        )
      })
      sent.on('error', reject)
      sent.end(body)
    },
  )
}

const authorized = { ...JSON_HEADERS, authorization: `Bearer ${TOKEN}` }

describe.each(CLIENT_KINDS)('over HTTP, the client %s', kind => {
  test('lists, calls, reads, subscribes and hears of an event', async () => {
    const url = await start()
    await using client = await connectClient(kind, { kind: 'http', url, token: TOKEN })
    expect(client.era).toBe(kind === '2.x, negotiating' ? 'modern' : 'legacy')
    expect((await client.listTools()).map(tool => tool.name)).toEqual(['add', 'refuse', 'raise'])
    expect(await client.call('add', { a: 2, b: 3 })).toEqual({
      isError: false,
      text: '2 + 3 = 5',
      structured: { sum: 5 },
    })
    expect(await client.listUris()).toEqual(['events://fixture', 'events://fixture{?after}'])
    expect(await client.readEvents('events://fixture')).toMatchObject({ cursor: 0, events: [] })

    await client.subscribe('events://fixture')
    await client.call('raise')
    expect(await client.nextUpdate()).toBe('events://fixture')
    const feed = await client.readEvents('events://fixture?after=0')
    expect(feed).toMatchObject({ cursor: 1, events: [{ seq: 1, type: 'cpu_high', key: 'cpu_high:test' }] })
    expect((await client.readEvents('events://fixture?after=1')).events).toEqual([])
  })

  test('is told of failures in words', async () => {
    const url = await start()
    await using client = await connectClient(kind, { kind: 'http', url, token: TOKEN })
    const refused = await client.call('refuse')
    expect(refused.isError).toBe(true)
    expect(refused.text).toBe('It is refused.\nWhere: here\nWhy: on purpose\nWhat to do: Do not ask.')
    expect((await client.call('add', { a: 'x' })).text).toMatch(/a: expected (int|number), received string/)
    await expect(client.call('nothing')).rejects.toThrow(/no such tool; it has add, refuse, raise/)
    await expect(client.readEvents('events://other')).rejects.toThrow(/not found/i)
    await expect(client.readEvents('events://fixture?after=-1')).rejects.toThrow(/not found/i)
  })

  test('that shows its model only the data of a result, where there is any, gets the text alone', async () => {
    const target = { kind: 'http', url: await start(), token: TOKEN } as const
    await using client = await connectClient(kind, target, 'claude-code')
    expect(await client.call('add', { a: 2, b: 3 })).toEqual({
      isError: false,
      text: '2 + 3 = 5',
      structured: undefined,
    })
    expect((await client.listTools()).map(tool => 'outputSchema' in tool)).toEqual([false, false, false])
  })

  test('does not get in with a wrong token', async () => {
    const url = await start()
    await expect(connectClient(kind, { kind: 'http', url, token: 'wrong' })).rejects.toThrow()
  })
})

test('a legacy client that did not subscribe, or unsubscribed, hears nothing of events', async () => {
  const url = await start()
  await using quiet = await connectClient('2.x, legacy', { kind: 'http', url, token: TOKEN })
  await using loud = await connectClient('1.x', { kind: 'http', url, token: TOKEN })
  await loud.subscribe('events://fixture')
  let heard = false
  void quiet.nextUpdate().then(
    () => {
      heard = true
    },
    () => undefined,
  )
  await loud.call('raise')
  await loud.nextUpdate()
  await quiet.call('add', { a: 1 })
  expect(heard).toBe(false)
})

test.each([
  ['no token', {}, 401],
  ['a wrong token', { authorization: 'Bearer wrong' }, 401],
  ['a token of the same length', { authorization: `Bearer ${TOKEN.slice(0, -1)}x` }, 401],
  ['another scheme', { authorization: `Basic ${TOKEN}` }, 401],
  ['a wrong Host', { authorization: `Bearer ${TOKEN}`, host: 'evil.example' }, 403],
  ['a wrong Origin', { authorization: `Bearer ${TOKEN}`, origin: 'https://evil.example' }, 403],
  ['an opaque Origin', { authorization: `Bearer ${TOKEN}`, origin: 'null' }, 403],
  ['an allowed Host', { authorization: `Bearer ${TOKEN}`, host: 'nas.home.arpa:8431' }, 200],
  ['an allowed Origin', { authorization: `Bearer ${TOKEN}`, origin: 'http://nas.home.arpa' }, 200],
  [
    'localhost',
    { authorization: `Bearer ${TOKEN}`, host: 'localhost:1', origin: 'http://127.0.0.1:3000' },
    200,
  ],
])('%s', async (_what, headers, status) => {
  const url = await start({ allowedHosts: ['nas.home.arpa'] })
  const answer = await knock(url, {
    headers: { ...JSON_HEADERS, ...headers },
    body: JSON.stringify(INITIALIZE),
  })
  expect(answer.status).toBe(status)
  if (status === 401) expect(answer.headers['www-authenticate']).toBe('Bearer')
  if (status !== 200) expect(JSON.parse(answer.text).error.message).toMatch(/token|not allowed/)
  expect(answer.text).not.toContain(TOKEN)
})

test('the health check needs no token and tells no details', async () => {
  const url = await start()
  expect(await knock(url, { method: 'GET', path: '/healthz' })).toMatchObject({ status: 200, text: 'ok\n' })
  expect((await knock(url, { method: 'POST', path: '/healthz' })).status).toBe(405)
})

test.each([
  ['another path', { path: '/', headers: authorized }, 404],
  ['another method', { method: 'PUT', headers: authorized, body: '{}' }, 405],
  ['a body that is not JSON', { headers: authorized, body: '{' }, 400],
  ['an empty body', { headers: authorized }, 400],
  ['a body over 1 MiB', { headers: authorized, body: JSON.stringify('x'.repeat(1024 * 1024)) }, 413],
  [
    'a chunked body over 1 MiB',
    { headers: { ...authorized, 'transfer-encoding': 'chunked' }, body: `"${'x'.repeat(2 ** 21)}"` },
    413,
  ],
  [
    'a session that never was',
    {
      headers: { ...authorized, 'mcp-session-id': 'gone' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    },
    404,
  ],
  [
    'no session',
    { headers: authorized, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) },
    400,
  ],
  ['a stream without a session', { method: 'GET', headers: authorized }, 400],
])('%s is refused with a clear error, and the server goes on', async (_what, options, status) => {
  const url = await start()
  const answer = await knock(url, options)
  expect(answer.status).toBe(status)
  expect(JSON.parse(answer.text).error.message).not.toBe('')
  expect((await knock(url, { method: 'GET', path: '/healthz' })).status).toBe(200)
})

test('a port that is taken is said with what to do, and nothing is left running', async () => {
  const url = await start()
  let disposed = false
  const definition = createFixtureServer({
    onDispose: () => {
      disposed = true
    },
  })
  const transport = { kind: 'http', port: Number(new URL(url).port), token: TOKEN } as const
  await expect(serve(definition, { transport, environment: {}, log })).rejects.toThrow(/Choose another port/)
  expect(disposed).toBe(true)
})

test.each(['', 'two words'])('the token %j is refused', async token => {
  const transport = { kind: 'http', port: 0, token } as const
  await expect(serve(createFixtureServer(), { transport, environment: {}, log })).rejects.toThrow(
    /needs a token/,
  )
})

test.each(CLIENT_KINDS)(
  'ends in order with the client %s connected, and may be disposed twice',
  async kind => {
    const url = await start()
    await using client = await connectClient(kind, { kind: 'http', url, token: TOKEN })
    await client.subscribe('events://fixture')
    await within('the end', served?.[Symbol.asyncDispose]() ?? Promise.reject(new Error('not started')))
    await within(
      'the second end',
      served?.[Symbol.asyncDispose]() ?? Promise.reject(new Error('not started')),
    )
    await within('closed', served?.closed ?? Promise.reject(new Error('not started')))
    await expect(knock(url, { method: 'GET', path: '/healthz' })).rejects.toThrow(/ECONNREFUSED/)
  },
)
