import fc from 'fast-check'
import { expect, test } from 'vitest'
import { configFile } from '../../schemas/config.ts'
import { type NamedServer, type NamingRules, nameTools, toToolName } from './names.ts'

const TAKEN = new Set(['hub_chat', 'find_tools'])
const { longestName } = configFile.parse({}).tools
const rules = (longest = longestName): NamingRules => ({ taken: TAKEN, longest, owners: new Map() })
const namesOf = (servers: readonly NamedServer[], by = rules()) =>
  nameTools(servers, by).names.map(({ name }) => name)
const both = (tools: string[], prefix = ''): NamedServer[] => [
  { server: 'first', prefix, tools },
  { server: 'second', prefix, tools },
]

test('a name is shortened so that what clients put in front still fits', () => {
  const long = 'add_pull_request_review_comment_to_pending_review'
  expect(toToolName(long, 64)).toBe(long)
  const [name = ''] = namesOf([{ server: 'github', prefix: 'github__', tools: [long] }])
  expect(name).toMatch(/^github__add_pull_request_review_commen_[0-9a-f]{8}$/)
  expect(`mcp__superbloom__${name}`).toHaveLength(64)
})

test('of tools of one server that become alike the one that is called so keeps the name, in any order', () => {
  const name = (tools: string[]) => namesOf([{ server: 'odd', prefix: '', tools }])
  expect(name(['a.b', 'a_b', 'a/b'])).toEqual([
    'odd__a_b',
    'a_b',
    expect.stringMatching(/^odd__a_b_[0-9a-f]{8}$/),
  ])
  expect(name(['a/b', 'a.b', 'a_b'])).toEqual([expect.stringMatching(/^odd__a_b_/), 'odd__a_b', 'a_b'])
})

test('a name is kept for a server that had it and is not there yet, and free once that is gone', () => {
  const [first, second] = both(['echo']) as [NamedServer, NamedServer]
  const { owners } = nameTools([first, second], rules())
  expect(owners).toEqual(new Map([['echo', 'first']]))
  const starting = { ...first, tools: undefined }
  expect(namesOf([starting, second], { ...rules(), owners })).toEqual(['second__echo'])
  expect(nameTools([starting, second], { ...rules(), owners }).owners).toEqual(owners)
  expect(namesOf([second], { ...rules(), owners })).toEqual(['echo'])
  expect(nameTools([second], { ...rules(), owners }).owners).toEqual(new Map())
})

const tool = fc.oneof(
  fc.constantFrom('echo', 'a.b', 'a_b', 'a/b', 'b__echo', '__proto__', 'hub_chat', '', 'ä', 'x'.repeat(70)),
  fc.string({ maxLength: 80 }),
  fc.stringMatching(/^[a-z_]{1,60}$/),
)
const catalogue = fc.uniqueArray(
  fc.record({
    server: fc.constantFrom(
      'a',
      'b',
      'c',
      'a__b',
      'a-very-long-name-of-a-server-with-sixty-four-characters-in-it-all',
    ),
    prefix: fc.constantFrom('', 'a__', 'b__', 'x'.repeat(32)),
    tools: fc.uniqueArray(tool, { maxLength: 8 }),
  }),
  { selector: ({ server }) => server, maxLength: 5 },
)
const byTool = (servers: readonly NamedServer[], by = rules()) =>
  Object.fromEntries(
    nameTools(servers, by).names.map(({ server, original, name }) => [
      JSON.stringify([server, original]),
      name,
    ]),
  )

test('whatever servers list, each tool has a name of its own that clients take', () => {
  fc.assert(
    fc.property(catalogue, fc.integer({ min: 32, max: 64 }), (servers, longest) => {
      const names = namesOf(servers, rules(longest))
      expect(names).toHaveLength(servers.flatMap(({ tools }) => tools).length)
      expect(new Set(names).size).toBe(names.length)
      for (const name of names) {
        expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
        expect(name.length).toBeLessThanOrEqual(longest)
        expect(TAKEN).not.toContain(name)
      }
    }),
  )
})

test('whoever comes or goes, names stay: a collision is told, and only its end gives a name back', () => {
  fc.assert(
    fc.property(catalogue, fc.nat(), (servers, pick) => {
      const all = byTool(servers)
      expect(byTool(servers.map(one => ({ ...one, tools: one.tools.toReversed() })))).toEqual(all)
      expect(all).toMatchObject(byTool(servers.slice(0, -1)))
      const gone = servers[pick % Math.max(1, servers.length)]
      const left = byTool(servers.filter(one => one !== gone))
      for (const { server, original, name, collision } of nameTools(servers, rules()).names) {
        if (server !== gone?.server && !collision) expect(left[JSON.stringify([server, original])]).toBe(name)
      }
    }),
  )
})

test('after a restart names are the same, in whatever order the servers become ready', () => {
  fc.assert(
    fc.property(catalogue, fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }), (servers, ready) => {
      const { owners } = nameTools(servers, rules())
      const starting = servers.map((one, index) => (ready[index] ? one : { ...one, tools: undefined }))
      expect(byTool(servers)).toMatchObject(byTool(starting, { ...rules(), owners }))
      // The owners that are kept while some servers are away are enough for the next start.
      const after = nameTools(starting, { ...rules(), owners }).owners
      expect(byTool(servers)).toMatchObject(byTool(starting, { ...rules(), owners: after }))
    }),
  )
})
