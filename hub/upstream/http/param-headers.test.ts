import type { Tool } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { createArgumentMirror } from './param-headers.ts'

type Schema = Tool['inputSchema']
type Properties = NonNullable<Schema['properties']>

const tool = (name: string, properties: Properties, more: Partial<Schema> = {}): Tool => ({
  name,
  inputSchema: { type: 'object', properties, ...more },
})
const marked = (type: string, header: string | number = 'Region') => ({ type, 'x-mcp-header': header })

function learn(tools: Tool[]) {
  const mirror = createArgumentMirror()
  const kept = mirror.learn(tools).map(({ name }) => name)
  return { mirror, kept }
}

describe('arguments that a tool wants in headers', () => {
  const { mirror } = learn([
    tool('call', {
      region: marked('string', 'Region'),
      count: marked('integer', 'Count'),
      dry: marked('boolean', 'Dry'),
      plain: { type: 'string' },
      place: { type: 'object', properties: { city: marked('string', 'City') } },
    }),
  ])
  const headersOf = (args: object) => mirror.headersOf('tools/call', { name: 'call', arguments: args })

  test('are repeated as they are, from any depth, where they are given', () => {
    expect(
      headersOf({ region: 'us west', count: 42, dry: false, plain: 'no', place: { city: 'Bonn' } }),
    ).toEqual({
      'Mcp-Param-Region': 'us west',
      'Mcp-Param-Count': '42',
      'Mcp-Param-Dry': 'false',
      'Mcp-Param-City': 'Bonn',
    })
    expect(headersOf({ region: null, count: undefined })).toEqual({})
  })

  test.each([' padded', 'padded ', 'a\nb', '\tx', 'Hello, 世界', '=?base64?eA==?='])(
    'are encoded where a header would not hold them: %j',
    region => {
      const encoded = Buffer.from(region, 'utf8').toString('base64')
      expect(headersOf({ region })).toEqual({ 'Mcp-Param-Region': `=?base64?${encoded}?=` })
    },
  )

  test('are of tool calls only', () => {
    expect(mirror.headersOf('prompts/get', { name: 'call', arguments: { region: 'x' } })).toEqual({})
    expect(mirror.headersOf('tools/call', { name: 'other', arguments: { region: 'x' } })).toEqual({})
  })
})

test.each<[string, Properties, Partial<Schema>]>([
  ['an empty name', { a: marked('string', '') }, {}],
  ['a name that is no text', { a: marked('string', 5) }, {}],
  ['a name that is no token', { a: marked('string', 'My Region') }, {}],
  ['an object', { a: marked('object') }, {}],
  ['a number that need not be whole', { a: marked('number') }, {}],
  ['one name twice', { a: marked('string', 'MyField'), b: marked('string', 'myfield') }, {}],
  ['an item of a list', { a: { type: 'array', items: marked('string') } }, {}],
  ['a branch', {}, { anyOf: [{ properties: { a: marked('string') } }] }],
  ['a definition', {}, { $defs: { a: marked('string') } }],
])('a tool is left out whose schema marks %s', (_what, properties, more) => {
  const { kept } = learn([tool('wrong', properties, more), tool('right', { a: marked('string') })])
  expect(kept).toEqual(['right'])
})

test('an argument may have the name of the mark, and a default that looks like one', () => {
  const properties = { 'x-mcp-header': { type: 'string' }, a: { type: 'object', default: marked('string') } }
  expect(learn([tool('odd', properties)]).kept).toEqual(['odd'])
})
