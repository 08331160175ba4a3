import { expect, test } from 'vitest'
import { createHttpServer } from '../../tests/support/http-servers.ts'
import { systemClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import { connectServer } from './connect.ts'
import type { NegotiationCache } from './negotiation.ts'
import type { ServerSpec } from './server-spec.ts'

function connect(
  transport: Extract<ServerSpec['transport'], { kind: 'http' }>,
  negotiated: NegotiationCache,
  log = createLog({ level: 'error', now: () => 0, write: () => undefined }),
) {
  return connectServer(
    { name: 'remote', origin: 'config', prefix: '', transport },
    {
      clock: systemClock,
      log,
      negotiated,
      authorization: undefined,
      version: '1',
      connectTimeout: 20_000,
      callTimeout: 20_000,
      hooks: {
        onStarted: () => () => undefined,
        onStderr: () => undefined,
        onGone: () => undefined,
        onNotice: () => undefined,
      },
      onBroken: () => undefined,
    },
    new AbortController().signal,
  )
}

test('a verdict that cannot be saved is warned of, and the connection is used all the same', async () => {
  await using server = createHttpServer('legacy')
  await server.start(['one'])
  const lines: string[] = []
  const full: NegotiationCache = {
    read: async () => 'auto',
    save: async () => {
      throw new Error('The disk is full')
    },
  }
  const { client, transport } = await connect(
    { kind: 'http', url: server.url, headers: {} },
    full,
    createLog({ level: 'warn', now: () => 0, write: line => lines.push(line) }),
  )
  expect(transport).toBe('http')
  expect(server.sessions).toBe(1)
  expect(lines.map(line => JSON.parse(line))).toMatchObject([
    { level: 'warn', event: 'era_not_saved', verdict: 'legacy', error: 'The disk is full' },
  ])
  await client.close()
  expect(server.sessions).toBe(0)
})

test("an entry's headers go with each request, but for those that each request has of its own", async () => {
  const seen = new Map<string, string[]>()
  await using server = createHttpServer('legacy', ({ method, rawHeaders }) => {
    if (method === 'POST') seen.set(String(seen.size), rawHeaders)
    return true
  })
  await server.start(['one'])
  const own = {
    HOST: 'tools.home.arpa',
    accept: 'text/plain',
    'content-type': 'text/plain',
    'Content-length': '3',
    'Transfer-Encoding': 'chunked',
    Connection: 'close',
    'X-Key': 'mine',
  }
  const { client, requests } = await connect(
    { kind: 'http', url: server.url, headers: own },
    { read: async () => 'legacy', save: async () => undefined },
  )
  seen.clear()
  expect(await requests.request('tools/call', { name: 'one' })).toMatchObject({ content: [{ text: 'one' }] })
  const [headers = []] = [...seen.values()]
  const named = (name: string) =>
    headers.flatMap((value, at) => (at % 2 === 0 && value.toLowerCase() === name ? [headers[at + 1]] : []))
  expect(named('host')).toEqual([new URL(server.url).host])
  expect(named('accept')).toEqual(['application/json, text/event-stream'])
  expect(named('content-type')).toEqual(['application/json'])
  expect(named('content-length')).toHaveLength(1)
  expect(named('transfer-encoding')).toEqual([])
  expect(named('connection')).toEqual(['keep-alive'])
  expect(named('x-key')).toEqual(['mine'])
  requests.close()
  await client.close()
})
