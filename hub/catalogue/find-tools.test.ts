import type { Tool } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createToolFinder, type Findable } from './find-tools.ts'

const tool = (
  name: string,
  description: string,
  properties: NonNullable<Tool['inputSchema']['properties']> = {},
): Tool => ({
  name,
  description,
  inputSchema: { type: 'object', properties },
})
const findable = (definition: Tool, about = ''): Findable => ({ definition, about })

const HOMELAB = [
  findable(tool('pause_downloads', 'Pauses all download clients, or one for some minutes')),
  findable(tool('get_player_count', 'How many people play on a game server')),
  findable(tool('getDiskHealth', 'SMART health of each drive')),
  findable(
    tool('send_notification', 'Sends a message to a channel', { channel: { description: 'phone, ops' } }),
  ),
  findable(tool('x1', 'Does something'), 'weather Forecasts of rain and wind'),
  findable(
    tool('make_issue', 'Writes one down', {
      repositoryName: { type: 'string' },
      labels: {
        type: 'array',
        items: { anyOf: [{ enum: ['urgent'] }, { description: 'a GitHub project' }] },
      },
    }),
  ),
]
const everything = () => true
const names = (found: { name: string }[]) => found.map(({ name }) => name)

test.each([
  ['pausing a download', 'pause_downloads'],
  ['players', 'get_player_count'],
  ['disk health', 'getDiskHealth'],
  ['message to my phone', 'send_notification'],
  ['will it rain', 'x1'],
  ['get_player_count', 'get_player_count'],
  ['getPlayerCount', 'get_player_count'],
  ['getdiskhealth', 'getDiskHealth'],
  ['urgent', 'make_issue'],
  ['github', 'make_issue'],
  ['repository name', 'make_issue'],
  ['notif phone', 'send_notification'],
  ['forcast of rian', 'x1'],
  ['player/count', 'get_player_count'],
  ['player/health of drives', 'getDiskHealth'],
])('%s finds %s first', (query, expected) => {
  using finder = createToolFinder(() => HOMELAB)
  expect(names(finder.find(query, 3, everything))[0]).toBe(expected)
})

test('what is not given is not found, and no more than asked for', () => {
  using finder = createToolFinder(() => HOMELAB)
  expect(names(finder.find('pause downloads message', 1, name => name !== 'pause_downloads'))).toEqual([
    'send_notification',
  ])
})

test('of many that fit alike those are found that are given, in their order', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => findable(tool(`lamp_${index}`, 'Lights a lamp')))
  using finder = createToolFinder(() => many)
  const last = (name: string) => Number(name.slice(5)) >= 995
  const expected = ['lamp_995', 'lamp_996', 'lamp_997']
  expect(names(finder.find('light a lamp', 3, last))).toEqual(expected)
  expect(names(finder.find('light a lamp', 3, last))).toEqual(expected)
})

test.each(['', '   ', '"', '*', 'AND OR NOT', 'name:pause', "'; drop table tools"])(
  'the query %j breaks nothing',
  query => {
    using finder = createToolFinder(() => HOMELAB)
    expect(() => finder.find(query, 5, everything)).not.toThrow()
  },
)

test('a changed catalogue is found as it is now', () => {
  let list = HOMELAB
  using finder = createToolFinder(() => list)
  expect(names(finder.find('brew coffee', 5, everything))).toEqual([])
  list = [...HOMELAB, findable(tool('brew_coffee', 'Makes coffee'))]
  expect(names(finder.find('brew coffee', 5, everything))).toEqual(['brew_coffee'])
  list = []
  expect(finder.find('brew coffee', 5, everything)).toEqual([])
})

test('a model sees the beginning of a very long description', () => {
  using finder = createToolFinder(() => [findable(tool('long', `Lights ${'x'.repeat(5_000)}`))])
  const [found] = finder.find('long', 1, () => true)
  expect(found?.description).toBe(`Lights ${'x'.repeat(3_993)}… (1007 more characters)`)
})
