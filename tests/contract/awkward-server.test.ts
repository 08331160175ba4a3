import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toolNamesOf } from '../support/mimics/tool-names.ts'
import { openPlayed, PLAYED } from '../support/played-providers.ts'
import { openProviderWorld, type ProviderWorld } from '../support/provider-world.ts'

const FILE = fileURLToPath(new URL('../fixtures/awkward-server.ts', import.meta.url))
/**
 * An agent with so few tools gets all of them in its requests; the default agent, which has all tools,
 * searches.
 */
const FEW = ['pay', 'explain', 'plant_tree', 'whole_tree', 'gadget_3', 'gadget_19'].map(
  name => `awkward__${name}`,
)
const CASES = PLAYED.flatMap((played, at) => [
  { played, how: 'which looks for its tools', looks: true, agent: `looks-${at}` },
  { played, how: 'which is told of its tools', looks: false, agent: `knows-${at}` },
])
const LIMIT = 120_000

let world: ProviderWorld
beforeAll(async () => {
  const awkward = { command: process.execPath, args: [FILE] }
  const agents = CASES.map(({ agent }) => agent)
  world = await openProviderWorld(agents, { awkward }, name => (name.startsWith('knows') ? FEW : ['*']))
}, LIMIT)
afterAll(() => world[Symbol.asyncDispose]())

const tree = { name: 'oak', children: [{ name: 'branch', children: [] }] }
const CALLS = [
  { name: 'awkward__pay', arguments: { invoice: 2 } },
  { name: 'awkward__plant_tree', arguments: { tree, 'filter[kind]': 'big' } },
  { name: 'awkward__whole_tree', arguments: tree },
  { name: 'awkward__explain', arguments: { topic: 'trees' } },
  { name: 'awkward__gadget_19', arguments: { to: 3 } },
]

describe.each(CASES)('$played.name, and an agent $how', ({ played, agent, looks }) => {
  test('answers beside a server with 204 awkward tools, and calls them', async () => {
    await using asked = await openPlayed(played)
    world.model.current = asked.model
    const { mimic } = asked
    await world.chat.subscribe(agent)
    asked.script({ reasoning: 'A greeting.', text: 'Hello.' })
    expect((await world.chat.ask(agent, 'Hi')).text).toBe('Hello.')
    const names = toolNamesOf(mimic.requests[0] ?? {})
    expect(names.filter(name => name.startsWith('awkward__'))).toHaveLength(looks ? 0 : FEW.length)

    const found = { name: 'find_tools', arguments: { query: 'plant a tree, or pay' } }
    const called = CALLS.map(call => ({ name: 'call_tool', arguments: call }))
    if (looks) asked.script({ reasoning: 'I look.', calls: [found] })
    asked.script({ reasoning: 'All.', calls: looks ? called : CALLS }, { reasoning: 'So.', text: 'Done.' })
    expect((await world.chat.ask(agent, 'Go on')).text).toBe('Done.')
    const body = JSON.stringify(mimic.requests.at(-1)).replaceAll('\\', '')
    for (const { name, arguments: args } of CALLS) {
      const own = name.replace('awkward__', '').replace(/(?<=plant|whole|gadget)_/, '.')
      expect(body).toContain(`${own} took ${JSON.stringify(args)}`)
    }
    expect(mimic.refusals).toEqual([])
    expect(asked.model.health?.quirks()).toEqual([])
  })
})
