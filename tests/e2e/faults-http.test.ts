import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { untilReady } from '../support/downstream.ts'
import { type FaultWorld, openFaultWorld } from '../support/fault-world.ts'
import { createHttpServer, KINDS } from '../support/http-servers.ts'
import { until } from '../support/until.ts'

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

/** A legacy server without sessions, which answers a call with what the test says. */
async function answering(call: RequestListener) {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method } = JSON.parse(text)
    const reply = (result: object) =>
      response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
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
