import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../../tests/support/fake-clock.ts'
import { createRecord } from '../../../tests/support/until.ts'
import { systemClock } from '../../core/clock.ts'
import { createLog } from '../../core/log.ts'
import { Authorization } from '../oauth/authorization.ts'
import type { Credentials } from '../oauth/credentials.ts'
import { createStreamableTransport, withAuth } from './http-transports.ts'

const KEPT: Credentials = {
  url: 'https://example.org/mcp',
  client: { client_id: 'me', issuer: 'https://people.example' },
  tokens: { access_token: 'the-token', token_type: 'Bearer', issuer: 'https://people.example' },
}

/** Opens a server whose stream ends, then fails `failures` times; `retry` is the delay that it wants. */
async function openServer(failures: number, retry: string) {
  const opened = createRecord<number>()
  const server = createServer((request, response) => {
    if (request.method === 'POST') return void response.writeHead(202).end()
    const count = opened.all.length + 1
    opened.add(count)
    if (count > 1 && count <= failures + 1) return void response.writeHead(503).end()
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(retry)
    if (count === 1) response.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    opened,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

test.each([
  ['by itself', ': hello\n\n', [1_000, 1_500, 2_250, 3_375, 6_000, 12_000]],
  ['also where the server wants it at once', 'retry: 0\n\n', [375, 750, 1_500, 3_000, 6_000, 12_000]],
])('a stream that fails again and again is opened ever more slowly, %s', async (_what, retry, delays) => {
  using server = await openServer(delays.length - 1, retry)
  const clock = createFakeClock()
  let broken = 0
  const transport = createStreamableTransport(
    { kind: 'http', url: server.url, headers: {} },
    { clock, authorization: undefined, onGone: () => undefined, onBroken: () => broken++ },
  )
  await transport.start()
  await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  let from = 0
  for (const delay of delays) {
    from = await clock.armed(delay, from)
    clock.advance(delay)
  }
  await server.opened.find('it is open again', count => count === delays.length + 1)
  expect(broken).toBe(delays.length)
  await transport.close()
  expect(clock.timers).toBe(0)
})

const FAILURES = [
  { what: 'is refused for a while', fail: (response: ServerResponse) => response.writeHead(503).end() },
  { what: 'is asked too often', fail: (response: ServerResponse) => response.writeHead(429).end() },
  { what: 'is cut off', fail: (response: ServerResponse) => response.destroy() },
]

/** Opens a server that answers the first requests for its stream by `fail`, and opens the stream then. */
async function openReluctant(times: number, fail: (response: ServerResponse) => unknown) {
  const asked = createRecord<number>()
  const server = createServer((request, response) => {
    if (request.method === 'POST') return void response.writeHead(202).end()
    asked.add(asked.all.length + 1)
    if (asked.all.length <= times) return void fail(response)
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const clock = createFakeClock()
  const heard = createRecord<unknown>()
  const transport = createStreamableTransport(
    { kind: 'http', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, headers: {} },
    { clock, authorization: undefined, onGone: () => undefined, onBroken: () => undefined },
  )
  transport.onmessage = message => heard.add(message)
  await transport.start()
  await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return {
    asked,
    heard,
    clock,
    async [Symbol.asyncDispose]() {
      await transport.close()
      server.closeAllConnections()
      server.close()
    },
  }
}

test.each(FAILURES)('a first stream that $what is opened later', async ({ fail }) => {
  await using server = await openReluctant(3, fail)
  let from = 0
  for (const delay of [1_000, 1_000, 1_000]) {
    from = await server.clock.armed(delay, from)
    server.clock.advance(delay)
  }
  await server.heard.find('what it tells is heard', () => true)
  expect(server.asked.all).toHaveLength(4)
})

test('a server whose stream never opens is asked for it no more', async () => {
  await using server = await openReluctant(Number.POSITIVE_INFINITY, response =>
    response.writeHead(500).end(),
  )
  let from = 0
  for (let time = 0; time < 4; time++) {
    from = await server.clock.armed(1_000, from)
    server.clock.advance(1_000)
  }
  await server.asked.find('the last time', count => count === 5)
  expect(server.clock.timers).toBe(0)
})

test.each([400, 404, 405, 501])('a server that answers %i has no stream', async status => {
  await using server = await openReluctant(1, response => response.writeHead(status).end())
  await server.asked.find('it is asked once', count => count === 1)
  expect(server.clock.timers).toBe(0)
})

test('a token is shown at the origin of its server and nowhere else', async () => {
  const seen: (string | null)[] = []
  const spec = { name: 'remote', origin: 'config' as const, prefix: '' }
  const authorization = new Authorization(
    { ...spec, transport: { kind: 'http', url: 'https://example.org/mcp', headers: {} } },
    {
      clock: systemClock,
      log: createLog({ level: 'error', now: systemClock.now, write: () => undefined }),
      store: { read: () => KEPT, save: async () => undefined, forget: async () => false },
      fetch,
    },
  )
  const fetchWithAuth = withAuth(async (_url, init) => {
    seen.push(new Headers(init?.headers).get('Authorization'))
    return new Response()
  }, authorization)
  const urls = ['https://example.org/mcp', 'https://example.org/messages', 'http://example.org/mcp']
  const others = ['https://example.org:8443/mcp', 'https://evil.example/mcp']
  for (const url of [...urls, ...others]) await fetchWithAuth(url)
  expect(seen).toEqual(['Bearer the-token', 'Bearer the-token', null, null, null])
})
