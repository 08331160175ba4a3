import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LINES, type Line, openClient, textOf } from '../support/clients.ts'
import { untilNoChildren } from '../support/processes.ts'
import { type LogEntry, startTestHub, type TestHub } from '../support/test-hub.ts'
import { type CatalogueServer, catalogueServers, serveCatalogue, toStdioEntry } from './setup/catalogue.ts'

/* Fifty servers with thirty tools each: half of them processes of the legacy era, half at addresses. */

/** Milliseconds for fifty connections at once, ten times their aim. */
const READY_MS = 100_000

const overStdio = catalogueServers.filter((_, index) => index % 2 === 0)
const overHttp = catalogueServers.filter((_, index) => index % 2 === 1)

let addresses: Awaited<ReturnType<typeof serveCatalogue>>
let hub: TestHub
beforeAll(async () => {
  addresses = await serveCatalogue(overHttp)
  const entryOf = (server: CatalogueServer) =>
    overStdio.includes(server) ? toStdioEntry(server) : addresses.entryOf(server)
  const entries = catalogueServers.map(server => [server.name, entryOf(server)] as const)
  hub = await startTestHub({
    config: JSON.stringify({ servers: { metrics: false, ...Object.fromEntries(entries) } }),
  })
  for (const { name } of catalogueServers) {
    const isReady = ({ event, server }: LogEntry) => event === 'server_ready' && server === name
    await hub.logs.find(`${name} is ready`, isReady, 0, READY_MS)
  }
}, READY_MS)
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await addresses[Symbol.asyncDispose]()
  await untilNoChildren()
})

const open = (line: Line, path = '/mcp') => openClient(line, { url: hub.url, token: hub.token, path })
const names = (tools: readonly { name: string }[]) => tools.map(({ name }) => name)
const namesOf = ({ name, tools }: CatalogueServer) => tools.map(tool => `${name}__${tool.name}`)

describe.each(LINES)('for a client of %s', line => {
  test('all tools of all servers are listed, in the order of the config, twice the same', async () => {
    await using client = await open(line)
    const listed = await client.listTools()
    const theirs = names(listed).filter(name => name.includes('__'))
    expect(theirs).toEqual(catalogueServers.flatMap(namesOf))
    expect(theirs).toHaveLength(1_500)
    expect(await client.listTools()).toEqual(listed)
  })

  test('each server answers a call', async () => {
    await using client = await open(line)
    const answers = await Promise.all(
      catalogueServers.map(({ name }) => client.call(`${name}__read_${name}`, { at: 'now' })),
    )
    expect(answers.map(textOf)).toEqual(catalogueServers.map(({ name, about }) => `read_${name} of ${about}`))
  })

  test('lean: the words of a tool find it, those of its server too, and it is called', async () => {
    await using client = await open(line, '/mcp?tools=lean')
    expect(names(await client.listTools())).toEqual(['find_tools', 'call_tool'])
    const look = async ({ name, synonym, about }: CatalogueServer) => {
      const [first] = await find(client, `polish the ${name}`)
      const [bySynonym] = await find(client, `polish ${synonym}`)
      const called = await client.call('call_tool', { name: first })
      expect([first, bySynonym, textOf(called)]).toEqual([
        `${name}__polish_${name}`,
        `${name}__polish_${name}`,
        `polish_${name} of ${about}`,
      ])
    }
    await Promise.all(catalogueServers.map(look))
  })
})

async function find(client: Awaited<ReturnType<typeof open>>, query: string): Promise<string[]> {
  const { structuredContent } = await client.call('find_tools', { query, limit: 5 })
  return names((structuredContent as { tools: { name: string }[] }).tools)
}

test.each([
  ['a value that an argument takes', 'canoe firmly', 'canoe__'],
  ['the beginning of words', 'photogr teles', 'telescope__photograph_telescope'],
  ['a slip of the pen', 'insprect the dishwaser', 'dishwasher__inspect_dishwasher'],
  ['a name as another program writes it', 'weighBeehive', 'beehive__weigh_beehive'],
])('lean: %s finds', async (_what, query, expected) => {
  await using client = await open('sdk 2, 2026-07-28', '/mcp?tools=lean')
  const found = await find(client, query)
  expect(found[0]).toMatch(new RegExp(`^${expected}`))
  expect(await find(client, query)).toEqual(found)
})

test.each([overStdio[3], overHttp[3]])(
  'a change of $name reaches every client but the lean ones',
  async server => {
    const name = server?.name ?? ''
    const clients = await Promise.all(LINES.map(line => open(line)))
    const lean = await Promise.all(LINES.map(line => open(line, '/mcp?tools=lean')))
    try {
      const before = JSON.stringify(await Promise.all(lean.map(client => client.listTools())))
      const heard = await Promise.all(clients.map(client => client.watchTools()))
      const silent = await Promise.all(lean.map(client => client.watchTools()))
      await lean[0]?.call('call_tool', { name: `${name}__learn_${name}` })
      await Promise.all(heard.map(changes => changes.find(`${name} changed`, () => true)))
      for (const client of clients)
        expect(names(await client.listTools())).toContain(`${name}__learn_${name}_more`)
      expect(await find(lean[0] as (typeof lean)[0], `learn ${name} more`)).toContain(
        `${name}__learn_${name}_more`,
      )
      expect(JSON.stringify(await Promise.all(lean.map(client => client.listTools())))).toBe(before)
      expect(silent.flatMap(({ all }) => all)).toEqual([])
    } finally {
      await Promise.all([...clients, ...lean].map(client => client[Symbol.asyncDispose]()))
    }
  },
)
