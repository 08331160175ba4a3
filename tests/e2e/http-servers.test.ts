import { createServer } from 'node:http'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { request } from 'undici'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CERTIFICATE, CERTIFICATE_KEY } from '../support/certificate.ts'
import { openClient, type TestClient, textOf } from '../support/clients.ts'
import { untilReady } from '../support/downstream.ts'
import { createHttpServer, type HttpServer, KINDS } from '../support/http-servers.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

/** The entry of each kind in `hub_status`. */
const SHOWN = {
  legacy: { transport: 'http', era: 'legacy' },
  modern: { transport: 'http', era: 'modern' },
  sse: { transport: 'sse', era: 'legacy' },
}

describe.each(KINDS)('a %s server behind an address', kind => {
  let remote: HttpServer
  let hub: TestHub
  let client: TestClient

  beforeEach(async () => {
    remote = createHttpServer(kind)
    await remote.start(['one'])
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the hub fills it in from its environment
    const headers = { Authorization: 'Bearer ${REMOTE_TOKEN}' }
    hub = await startTestHub({
      config: JSON.stringify({ servers: { metrics: false, remote: { url: remote.url, headers } } }),
      variables: { REMOTE_TOKEN: 'the-remote-token' },
    })
    client = await openClient('sdk 2, 2026-07-28', hub)
    await untilReady(hub, 'remote')
  })
  afterEach(async () => {
    await client[Symbol.asyncDispose]()
    await hub[Symbol.asyncDispose]()
    await remote[Symbol.asyncDispose]()
  })

  const tools = async () =>
    (await client.listTools()).map(({ name }) => name).filter(name => name.startsWith('remote__'))
  const call = async (name: string) => {
    const result = await client.call(name)
    return { text: textOf(result), isError: result.isError === true }
  }

  test('is recognised, gets its headers, and its tools work', async () => {
    expect((await client.call('hub_status')).structuredContent).toMatchObject({
      servers: [{ name: 'remote', state: 'ready', tools: 1, ...SHOWN[kind] }],
    })
    expect(await call('remote__one')).toEqual({ text: 'one', isError: false })
    expect([...remote.authorizations]).toEqual(['Bearer the-remote-token'])
  })

  test('tells of its changes', async () => {
    remote.offer(['one', 'two'])
    await until('the new tool is there', async () => (await tools()).includes('remote__two'))
    expect(await call('remote__two')).toEqual({ text: 'two', isError: false })
  })

  test('stopped: a call says why and when the next try is; started again: it comes back by itself', async () => {
    await remote.stop()
    await call('remote__one')
    const failed = await until('it counts as down', async () => {
      const result = await call('remote__one')
      return /is down/.test(result.text) && result
    })
    expect(failed).toEqual({
      isError: true,
      text: expect.stringMatching(/^The server remote is down: .+ The next try is at /),
    })
    expect(await tools()).toEqual(['remote__one'])
    await remote.start(['one', 'newer'])
    await until('it is back', async () => (await tools()).includes('remote__newer'))
    expect(await call('remote__one')).toEqual({ text: 'one', isError: false })
  })

  test('restarted while nobody called: its new tools are seen without a call', async () => {
    await remote.stop()
    await remote.start(['one', 'newer'])
    await until('its new tools are there', async () => (await tools()).includes('remote__newer'))
    remote.offer(['one', 'newer', 'newest'])
    await until('its later changes too', async () => (await tools()).includes('remote__newest'))
    expect(await call('remote__newest')).toEqual({ text: 'newest', isError: false })
  })
})

test('an address that is no MCP server is down with the reason', async () => {
  await using other = await startTestHub()
  await using hub = await startTestHub({
    config: JSON.stringify({ servers: { metrics: false, remote: { url: `${other.url}/nothing` } } }),
  })
  const down = await hub.logs.find('it is down', one => one.event === 'server_down')
  expect(String(down['error'])).toMatch(/nothing/i)
})

test('a connection that closes while the hub reads a flood of events slowly harms nothing', async () => {
  const flood = 'data: {}\n\n'.repeat(13_108)
  let streams = 0
  const server = createServer(async (request, response) => {
    const { id, method } = JSON.parse((await text(request)) || '{}')
    if (method === 'tools/call' || request.method === 'GET') {
      streams++
      response.socket?.write(
        'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n',
      )
      response.socket?.end(flood)
    } else if (id === undefined) response.writeHead(202).end()
    else {
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'flood', version: '1.0.0' },
        tools: [{ name: 'flood', inputSchema: { type: 'object' } }],
      }
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  try {
    await using hub = await startTestHub({
      config: JSON.stringify({ servers: { metrics: false, bad: { url } } }),
    })
    await using client = await openClient('sdk 2, 2026-07-28', hub)
    await untilReady(hub, 'bad')
    const result = await client.call('bad__flood')
    expect(textOf(result)).toMatch('its stream ended without it')
    await until('its own stream was opened again', () => streams > 2)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('requests go over HTTP/1.1, also to a server that offers HTTP/2', async () => {
  const server = createSecureServer(
    { key: CERTIFICATE_KEY, cert: CERTIFICATE, allowHTTP1: true },
    ({ httpVersion }, response) => response.end(httpVersion),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const before = getCACertificates('default')
  try {
    setDefaultCACertificates([...before, CERTIFICATE])
    await using _hub = await startTestHub()
    const { body } = await request(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    expect(await body.text()).toBe('1.1')
  } finally {
    setDefaultCACertificates(before)
    server.close()
  }
})
