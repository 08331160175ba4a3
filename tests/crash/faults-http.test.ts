import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { untilReady } from '../support/downstream.ts'
import { type FaultWorld, openFaultWorld } from '../support/fault-world.ts'
import { createHttpServer, KINDS } from '../support/http-servers.ts'
import { createRecord, until } from '../support/until.ts'

let world: FaultWorld

afterEach(() => world[Symbol.asyncDispose]())

describe.each(KINDS)('a %s server behind an address', kind => {
  test('restarted, its sessions forgotten: calls work again, and nothing is left', async () => {
    await using remote = createHttpServer(kind)
    await remote.start(['one'])
    world = await openFaultWorld({ remote: { url: remote.url } })
    await untilReady(world.hub, 'remote')
    expect(await world.call('remote__one')).toEqual({ text: 'one', isError: false })
    await world.unharmedBy(async () => {
      await remote.stop()
      await remote.start(['one'])
      await until('a call works', async () => !(await world.call('remote__one')).isError)
    })
    expect(remote.sessions).toBeLessThanOrEqual(1)
  })

  test('the hub leaves no session on it', async () => {
    await using remote = createHttpServer(kind)
    await remote.start(['one'])
    world = await openFaultWorld({ remote: { url: remote.url } })
    await untilReady(world.hub, 'remote')
    world.hub.writeConfig(JSON.stringify({ servers: { metrics: false } }))
    await until('it is gone', async () => (await world.statusOf('remote')) === undefined)
    await until('its session is over', () => remote.sessions === 0)
  })

  test('started late: it is down, with the reason and when the next try is, then it is there', async () => {
    await using remote = createHttpServer(kind)
    await remote.start(['one'])
    await remote.stop()
    world = await openFaultWorld({ remote: { url: remote.url } })
    const down = await world.untilState('remote', 'down')
    expect(down).toMatchObject({
      error: expect.stringContaining('ECONNREFUSED'),
      nextTryAt: expect.any(Number),
    })
    await world.answersDuring(async () => {
      await remote.start(['one'])
      await world.untilState('remote', 'ready')
    })
    expect(await world.call('remote__one')).toEqual({ text: 'one', isError: false })
  })
})

const refuseGet: RequestListener = (_request, response) => void response.writeHead(405).end()
const toStream = (response: ServerResponse) =>
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })

/** Starts a legacy server without sessions, which answers a call as the test says. */
async function answering(call: RequestListener, get: RequestListener = refuseGet) {
  const ids = new Map<ServerResponse, unknown>()
  const pings = createRecord<unknown>()
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    if (request.method !== 'POST') return get(request, response)
    const { id, method } = JSON.parse(text)
    const reply = (result: object) =>
      response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    ids.set(response, id)
    if (method === 'ping') pings.add(id)
    if (method === 'tools/call') return call(request, response)
    if (method === 'tools/list') return reply({ tools: [{ name: 'one', inputSchema: { type: 'object' } }] })
    if (method === 'initialize') {
      const serverInfo = { name: 'by-hand', version: '1' }
      return reply({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo })
    }
    if (id === undefined) return response.writeHead(202).end()
    return response.writeHead(400).end('Bad Request')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    pings,
    idOf: (response: ServerResponse) => ids.get(response),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

const downs = () => world.hub.logs.all.filter(({ event }) => event === 'server_down')

test('a 400 about one request fails that one, and the connection is kept', async () => {
  await using remote = await answering((_request, response) => response.writeHead(400).end('Bad Request: no'))
  world = await openFaultWorld({ remote: { url: remote.url } })
  await untilReady(world.hub, 'remote')
  await world.unharmedBy(async () => {
    expect(await world.call('remote__one')).toMatchObject({
      isError: true,
      text: expect.stringContaining('Bad Request: no'),
    })
  })
  expect(downs()).toEqual([])
})

test.each([
  ['is refused by a gateway', (response: ServerResponse) => response.writeHead(503).end('slow down')],
  ['breaks', (response: ServerResponse) => response.destroy()],
  ['ends without an answer', (response: ServerResponse) => toStream(response).end()],
])('a call that %s fails alone: another one in flight is answered', async (_what, fail) => {
  const calls = createRecord<ServerResponse>()
  await using remote = await answering((_request, response) => {
    calls.add(response)
    if (calls.all.length > 1) fail(response)
  })
  world = await openFaultWorld({ remote: { url: remote.url } })
  await untilReady(world.hub, 'remote')
  const slow = world.call('remote__one')
  const first = await calls.find('the first call came', () => true)
  expect(await world.call('remote__one')).toMatchObject({ isError: true })
  await remote.pings.find('the hub looks whether it answers', () => true)
  first.writeHead(200, { 'Content-Type': 'application/json' })
  const result = { content: [{ type: 'text', text: 'late' }] }
  first.end(JSON.stringify({ jsonrpc: '2.0', id: remote.idOf(first), result }))
  expect(await slow).toEqual({ text: 'late', isError: false })
  expect(downs()).toEqual([])
})

describe('a call whose stream broke, and whose rest', () => {
  const breakOff: RequestListener = (_request, response) => void toStream(response).end('id: 1\nretry: 1\n\n')

  /** Starts a server that leaves the first call unanswered; `rest` answers the later requests. */
  async function breaking(rest: (asked: number, response: ServerResponse) => unknown) {
    let asked = 0
    let id: unknown
    const remote = await answering(
      (request, response) => {
        id = remote.idOf(response)
        breakOff(request, response)
      },
      ({ headers }, response) =>
        void (headers['last-event-id'] === '1' ? rest(++asked, response) : response.writeHead(405).end()),
    )
    world = await openFaultWorld({ remote: { url: remote.url } })
    await untilReady(world.hub, 'remote')
    return { remote, idOfCall: () => id }
  }

  test('is refused for a moment, is answered', async () => {
    const { remote, idOfCall } = await breaking((asked, response) => {
      if (asked === 1) return response.writeHead(503).end()
      const result = { content: [{ type: 'text', text: 'late' }] }
      const message = JSON.stringify({ jsonrpc: '2.0', id: idOfCall(), result })
      return toStream(response).write(`id: 2\ndata: ${message}\n\n`)
    })
    await using _remote = remote
    expect(await world.call('remote__one')).toEqual({ text: 'late', isError: false })
    expect(downs()).toEqual([])
  })

  test('is refused for good, fails with the reason; a session that is forgotten is begun anew', async () => {
    const { remote } = await breaking((asked, response) =>
      asked === 1 ? response.writeHead(405).end() : response.writeHead(404).end('Session not found'),
    )
    await using _remote = remote
    expect(await world.call('remote__one')).toMatchObject({
      isError: true,
      text: expect.stringContaining('answered 405 when it was asked for the rest'),
    })
    expect(downs()).toEqual([])
    expect(await world.call('remote__one')).toMatchObject({
      isError: true,
      text: expect.stringContaining('Session not found'),
    })
    expect(downs()).toHaveLength(1)
    await world.untilState('remote', 'ready')
  })
})

test('a server whose gateway does not reach it is down, with the reason, until it does', async () => {
  let isGone = false
  await using remote = createHttpServer('legacy', (_request, response) => {
    if (isGone) response.writeHead(502).end('nothing behind it')
    return !isGone
  })
  await remote.start(['one'])
  world = await openFaultWorld({ remote: { url: remote.url } })
  await untilReady(world.hub, 'remote')
  isGone = true
  expect(await world.call('remote__one')).toMatchObject({ isError: true })
  expect(await world.untilState('remote', 'down')).toMatchObject({
    error: expect.stringContaining('answered 502: nothing behind it'),
  })
  isGone = false
  await world.untilState('remote', 'ready')
  expect(await world.call('remote__one')).toEqual({ text: 'one', isError: false })
})

test.each(['application/json', 'text/event-stream'])(
  'an answer without end as %s fails the one call, and is not read on',
  async type => {
    let open = 0
    await using remote = await answering((_request, response) => {
      open++
      response.on('close', () => open--)
      response.writeHead(200, { 'Content-Type': type })
      response.write(type === 'application/json' ? '{"jsonrpc":"2.0","id":1,"result":"' : 'data: ')
      const more = () => {
        if (!response.destroyed) response.write('x'.repeat(256 * 1024), more)
      }
      more()
    })
    world = await openFaultWorld({ remote: { url: remote.url } })
    await untilReady(world.hub, 'remote')
    await world.unharmedBy(async () => {
      expect(await world.call('remote__one')).toMatchObject({
        isError: true,
        text: expect.stringMatching(/a message over 10485760 bytes/),
      })
      await until('it is not read on', () => open === 0)
    })
    expect(downs()).toEqual([])
  },
)
