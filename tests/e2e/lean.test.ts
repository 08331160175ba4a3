import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { LINES, openClient, textOf } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { call, createScriptedModel, say } from '../support/scripted-model.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

const COUNT = 70

/** A server with many tools, one of which returns its arguments. */
const MANY = `import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
serveStdio(() => {
  const server = new McpServer({ name: 'many', version: '1.0.0' }, { instructions: 'Looks after the garden' })
  const input = z.object({ amount: z.number() })
  server.registerTool('water_plants', { description: 'Waters all plants', inputSchema: input }, ({ amount }) => ({ content: [{ type: 'text', text: 'watered with ' + amount }] }))
  for (let index = 1; index < ${COUNT}; index++) {
    server.registerTool('gadget_' + index, { description: 'Gadget number ' + index, annotations: { readOnlyHint: true } }, () => ({ content: [{ type: 'text', text: 'gadget ' + index }] }))
  }
  return server
})
`

const model = createScriptedModel()
let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub({
    config:
      'servers: { metrics: false }\ntoolsets: { garden: ["many__*", "!many__gadget_*", "hub_status"] }\ntools: { approve: ["many__gadget_7"] }\n',
    data: { 'servers/many/server.mjs': MANY },
    overrides: { model },
  })
  await untilReady(hub, 'many')
})
afterAll(() => hub[Symbol.asyncDispose]())

const open = (line: (typeof LINES)[number], path: string) =>
  openClient(line, { url: hub.url, token: hub.token, path })
const names = (tools: readonly { name: string }[]) => tools.map(({ name }) => name)

describe.each(LINES)('for a client of %s', line => {
  test('lean mode finds and calls every tool with two', async () => {
    await using client = await open(line, '/mcp?tools=lean')
    expect(names(await client.listTools())).toEqual(['find_tools', 'call_tool'])
    const found = await client.call('find_tools', { query: 'watering the plants', limit: 2 })
    expect(found.structuredContent).toMatchObject({
      tools: [
        { name: 'many__water_plants', inputSchema: { properties: { amount: { type: 'number' } } } },
        {},
      ],
    })
    expect(textOf(found)).toContain('many__water_plants: Waters all plants')
    const args = { name: 'many__water_plants', arguments: { amount: 3 } }
    expect(textOf(await client.call('call_tool', args))).toBe('watered with 3')
    expect((await client.call('call_tool', { name: 'hub_status' })).structuredContent).toHaveProperty(
      'servers',
    )
  })

  test('lean mode says what is wrong', async () => {
    await using client = await open(line, '/mcp?tools=lean')
    const nameless = await client.call('call_tool', { arguments: {} })
    expect(nameless.isError).toBe(true)
    expect(textOf(nameless)).toContain('call_tool takes name')
    expect((await client.call('find_tools', { query: ' ' })).isError).toBe(true)
    expect(textOf(await client.call('find_tools', { query: 'zyxw' }))).toContain('No tool fits "zyxw"')
    await expect(client.call('call_tool', { name: 'no_such_tool' })).rejects.toThrow('no tool no_such_tool')
  })

  test('a toolset has its tools and no other', async () => {
    await using client = await open(line, '/mcp/garden')
    expect(names(await client.listTools())).toEqual(['hub_status', 'many__water_plants'])
    expect(textOf(await client.call('many__water_plants', { amount: 1 }))).toBe('watered with 1')
    await expect(client.call('many__gadget_1')).rejects.toThrow('no tool many__gadget_1')
    await using lean = await open(line, '/mcp/garden?tools=lean')
    const found = await lean.call('find_tools', { query: 'gadget' })
    expect(found.structuredContent).toEqual({ tools: [] })
    await expect(lean.call('call_tool', { name: 'many__gadget_1' })).rejects.toThrow('no tool')
  })
})

test('a toolset that is not configured is refused, and says which there are', async () => {
  const response = await fetch(`${hub.url}/mcp/nothing`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${hub.token}`, 'Content-Type': 'application/json' },
    body: '{}',
  })
  expect(response.status).toBe(404)
  expect(await response.text()).toContain('no toolset nothing at /mcp: there is garden')
})

test('a toolset follows the config', async () => {
  await using client = await open('sdk 2, 2026-07-28', '/mcp/garden')
  const changes = await client.watchTools()
  hub.writeConfig(
    'servers: { metrics: false }\ntoolsets: { garden: ["many__gadget_1"] }\ntools: { approve: ["many__gadget_7"] }\n',
  )
  await changes.find('the toolset is told to have changed', () => true)
  expect(names(await client.listTools())).toEqual(['many__gadget_1'])
})

test.each(LINES)('a client of %s is told when its own list of tools changed, and only then', async line => {
  await using garden = await open(line, '/mcp/garden')
  await using whole = await open(line, '/mcp')
  await using lean = await open(line, '/mcp?tools=lean')
  const [ofGarden, ofWhole, ofLean] = await Promise.all([garden, whole, lean].map(one => one.watchTools()))
  const tool = `many__gadget_${3 + LINES.indexOf(line)}`
  hub.writeConfig(
    `servers: { metrics: false }\ntoolsets: { garden: ["${tool}"] }\ntools: { approve: ["many__gadget_7"] }\n`,
  )
  await ofGarden?.find('the set is told to have changed', () => true)
  expect(names(await garden.listTools())).toEqual([tool])
  expect(ofWhole?.all).toEqual([])
  hub.writeData(`servers/lamp/mcp.json`, JSON.stringify(odd().entry))
  await ofWhole?.find('the new tools are told', () => true)
  rmSync(join(hub.dataFolder, 'servers/lamp'), { recursive: true })
  await ofWhole?.find('their end is told', () => true, 1)
  expect(ofGarden?.all).toHaveLength(1)
  expect(ofLean?.all).toEqual([])
})

test('an agent with many tools looks for them, and each call is the tool that it names', async () => {
  using chat = await openChat(hub)
  await chat.subscribe('homelab', 0)
  model.script(
    call([['find_tools', { query: 'water the plants' }]]),
    call([
      ['call_tool', { name: 'many__water_plants', arguments: { amount: 5 } }],
      ['call_tool', { name: 'many__gadget_7' }],
      ['call_tool', { arguments: {} }],
      ['many__gadget_9', {}],
    ]),
    say('Done.'),
  )
  await chat.ask('homelab', 'water the plants')
  const [first, second, third] = model.requests.all
  const listed = names(first?.tools ?? [])
  expect(listed).toContain('find_tools')
  expect(listed).toContain('schedule_wake')
  expect(listed).not.toContain('many__water_plants')
  const results = (third?.messages ?? []).flatMap(message => (message.role === 'tool' ? [message] : []))
  expect(second?.messages.at(-1)?.text).toContain('many__water_plants: Waters all plants')
  expect(results.map(({ name, text }) => [name, text]).slice(1)).toEqual([
    ['many__water_plants', 'watered with 5'],
    ['many__gadget_7', expect.stringContaining('waiting: approval')],
    ['call_tool', expect.stringContaining('call_tool takes name')],
    ['many__gadget_9', 'gadget 9'],
  ])
  const shown = chat.messages.filter(({ kind }) => kind === 'tool').map(({ author }) => author)
  expect(shown).toContain('many__water_plants')
})
