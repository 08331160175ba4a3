import {
  Client,
  InMemoryTransport,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
} from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../hub/core/clock.ts'
import { StdioBridge } from '../../hub/mcp/stdio-bridge.ts'
import { openClient } from '../support/clients.ts'
import { untilReady } from '../support/downstream.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { INITIALIZE, rpc } from '../support/raw-http.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { createRecord, within } from '../support/until.ts'

/** A server whose tool logs something for its subscribers. */
const NOTER = `import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
serveStdio(() => {
  const server = new McpServer({ name: 'noter', version: '1.0.0' }, { capabilities: { logging: {} } })
  server.registerTool('note', {}, () => {
    const params = { level: 'info', data: 'noted' }
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params }) + '\\n')
    return { content: [] }
  })
  return server
})
`
const HOMELAB = 'hub://agents/homelab'

let hub: TestHub
beforeEach(async () => {
  hub = await startTestHub({
    config: 'servers: { metrics: false }',
    data: { 'servers/noter/server.mjs': NOTER },
  })
  await untilReady(hub, 'noter')
})
afterEach(() => hub[Symbol.asyncDispose]())

const restart = async () => {
  await hub.stop()
  await hub.start()
}

/** Starts the bridge of `superbloom mcp` in this process; returns its client's end. */
function bridge(clock: Clock = systemClock) {
  const [client, near] = InMemoryTransport.createLinkedPair()
  const findHub = () => ({ url: hub.url, token: hub.token, path: '/mcp' })
  const said = createRecord<string>()
  const log = (line: string) => said.add(line)
  const ended = new StdioBridge({ clock, client: near, findHub, tokenFile: 'token', log }).run()
  return { transport: client, said, ended }
}

async function connect(mode: '2026-07-28' | 'legacy', clock?: Clock) {
  const { transport, ...rest } = bridge(clock)
  const client = new Client(
    { name: 'in-memory', version: '1' },
    { versionNegotiation: { mode: mode === 'legacy' ? 'legacy' : { pin: mode } } },
  )
  /** Records the list that changed, the URI that was updated, or the logged text. */
  const heard = createRecord<unknown>()
  for (const list of ['tools', 'resources', 'prompts'] as const)
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => heard.add(list))
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => heard.add(params.uri))
  client.setNotificationHandler('notifications/message', ({ params }) => heard.add(params.data))
  await client.connect(transport)
  return { client, heard, ...rest }
}

const count = (all: readonly unknown[], wanted: unknown) => all.filter(each => each === wanted).length

test('after a restart a legacy client that says nothing hears of all that it wanted, once', async () => {
  const { client, heard, ended } = await connect('legacy')
  await client.subscribeResource({ uri: HOMELAB })
  await client.subscribeResource({ uri: 'events://hub' })
  await client.unsubscribeResource({ uri: 'events://hub' })
  await client.setLoggingLevel('info')
  hub.writeAgent('second', '---\ndescription: Comes later\n---\n\nYou help.\n')
  await heard.find('the session tells of a change', each => each === 'resources')
  const before = heard.all.length

  await restart()
  await heard.find('what is subscribed may have changed', each => each === HOMELAB, before)
  const heardBefore = heard.all.slice(before)
  expect(new Set(heardBefore)).toEqual(new Set(['tools', 'resources', 'prompts', HOMELAB]))
  // The server that starts again changes the lists too, whenever it is ready.
  expect([count(heardBefore, 'resources'), count(heardBefore, HOMELAB)]).toEqual([1, 1])

  await untilReady(hub, 'noter')
  await using other = await openClient('sdk 2, legacy', hub)
  await other.call('noter__note')
  await heard.find('the log level stands', each => each === 'noted', before)
  await other.call('hub_chat', { message: '/help', conversation: 'homelab' })
  hub.writeAgent('homelab', '---\ndescription: Is another now\n---\n\nYou help.\n')
  await heard.find('the subscription stands', each => each === HOMELAB, before + heardBefore.length)
  await client.listTools()
  expect(count(heard.all, 'noted')).toBe(1)
  expect(heard.all.slice(before)).not.toContain('events://hub')

  await client.close()
  await within('the bridge ends', ended)
})

test('a client that spoke first is told the same, once, and the bridge opens no second session', async () => {
  const { client, heard, said, ended } = await connect('legacy')
  await client.subscribeResource({ uri: HOMELAB })
  await client.setLoggingLevel('info')
  await restart()
  await untilReady(hub, 'noter')
  await client.listTools()
  await heard.find('what is subscribed may have changed', each => each === HOMELAB)
  await using other = await openClient('sdk 2, legacy', hub)
  // The bridge tries the earlier session's stream again a second after it broke.
  await said.find('the session before is given up', line => line.includes('tells of no changes'))
  await other.call('noter__note')
  await heard.find('it is logged', each => each === 'noted')
  await client.listTools()
  expect([count(heard.all, 'noted'), count(heard.all, 'prompts')]).toEqual([1, 1])
  await client.close()
  await within('the bridge ends', ended)
})

test('while no hub is there it is looked for ever more slowly, until it is back or the client leaves', async () => {
  const clock = createFakeClock()
  const { client, heard, ended } = await connect('legacy', clock)
  hub.writeAgent('second', '---\ndescription: Comes later\n---\n\nYou help.\n')
  await heard.find('the session tells of a change', each => each === 'resources')
  const before = heard.all.length
  await hub.stop()
  let from = 0
  for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]) {
    from = await clock.armed(wait, from)
    clock.advance(wait)
  }
  from = await clock.armed(30_000, from)
  await hub.start()
  expect(heard.all.length).toBe(before)
  clock.advance(30_000)
  await heard.find('the hub is heard again', each => each === 'tools', before)
  await heard.find('all lists may have changed', each => each === 'prompts', before)
  const after = heard.all.length
  hub.removeAgent('second')
  await heard.find('the new session tells of a change', each => each === 'resources', after)
  // The wait starts at its first step again, because the hub was heard in between.
  await hub.stop()
  await clock.armed(1_000, from)
  await client.close()
  await within('the bridge ends', ended)
  expect(clock.timers).toBe(0)
})

describe('a legacy client that was not ready yet', () => {
  const clock = createFakeClock()
  const messages = createRecord<JSONRPCMessage>()
  const answerTo = (id: number) =>
    messages.find(`the answer to ${id}`, message => isJSONRPCResultResponse(message) && message.id === id)
  const begin = async () => {
    const { transport, ended } = bridge(clock)
    messages.all.length = 0
    transport.onmessage = message => messages.add(message)
    await transport.start()
    await transport.send(JSON.parse(INITIALIZE))
    await answerTo(1)
    return { transport, ended }
  }

  test('has one stream of its own where its session was opened again', async () => {
    const { transport, ended } = await begin()
    await restart()
    const streams: number[] = []
    const { fetch } = globalThis
    globalThis.fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (init?.method === 'GET') streams.push(response.status)
      return response
    }
    try {
      await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
      for (const id of [2, 3]) {
        await transport.send(JSON.parse(rpc('ping', {}, id)))
        await answerTo(id)
      }
    } finally {
      globalThis.fetch = fetch
    }
    expect(streams).toEqual([200])
    await transport.close()
    await within('the bridge ends', ended)
  })

  test('hears of changes once there is a hub again', async () => {
    const { transport, ended } = await begin()
    await hub.stop()
    await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await clock.armed(1_000)
    await hub.start()
    clock.advance(1_000)
    const told = (method: string) => (message: JSONRPCMessage) =>
      'method' in message && message.method === method
    await messages.find('all may have changed', told('notifications/prompts/list_changed'))
    await transport.close()
    await within('the bridge ends', ended)
  })
})

test('a client of 2026-07-28 sees that its subscription ended, and listens again', async () => {
  const { client, heard, ended } = await connect('2026-07-28')
  const listening = await client.listen({ resourcesListChanged: true })
  await restart()
  expect(await within('the subscription ends', listening.closed)).not.toBe('local')
  await client.listen({ resourcesListChanged: true })
  hub.writeAgent('second', '---\ndescription: Comes later\n---\n\nYou help.\n')
  await heard.find('the new subscription tells of a change', each => each === 'resources')
  await client.close()
  await within('the bridge ends', ended)
})
