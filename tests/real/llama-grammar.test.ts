import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { argumentsOf } from '../../hub/model/form/testing/schemas.ts'
import { toChatTool } from '../../hub/model/openai/chat-adapter.ts'
import { readFirstTools } from '../support/first-hub.ts'
import { buildGrammarCheck, type CheckGrammar, findRefused } from './setup/llama-grammar.ts'
import { testNpmGrammars, toShaped } from './setup/llama-suite.ts'
import { smallServers } from './setup/npm-servers.ts'

const BUILD_MS = 300_000

let checkGrammar: CheckGrammar

beforeAll(async () => {
  checkGrammar = await buildGrammarCheck()
}, BUILD_MS)

const toTool = (inputSchema: object) => ({
  name: 'set',
  description: 'sets it',
  inputSchema: { ...inputSchema },
})
const withArgument = (argument: unknown) => ({ type: 'object', properties: { value: argument } })
const text = (keywords: object) => withArgument({ type: 'string', ...keywords })
const bracketed = { type: 'object', properties: { 'filter[id]': { type: 'string' } } }
const list = (keywords: object) => withArgument({ type: 'array', ...keywords })

describe.each<[what: string, schema: object, says: string]>([
  ['a class in a pattern', text({ pattern: '^\\d+$' }), 'unknown escape'],
  ['a pattern of a part', text({ pattern: 'nas' }), "Pattern must start with '^'"],
  ['a long text', text({ maxLength: 5000 }), 'number of repetitions exceeds'],
  ['a long list', list({ items: { type: 'string' }, maxItems: 2000 }), 'repetition exceeds'],
  ['an argument that is true', withArgument(true), 'Unrecognized schema: true'],
  ['a type that is no type', withArgument({ type: 'any' }), 'Unrecognized schema'],
  ['a reference to nothing', withArgument({ $ref: '#/$defs/none' }), 'Error resolving ref'],
  ['a reference out of the schema', withArgument({ $ref: 'other.json' }), 'Unsupported ref'],
  [
    'an argument named $ref',
    { type: 'object', properties: { $ref: { type: 'string' } } },
    'type must be string',
  ],
  ['any others beside filter[id]', { ...bracketed, additionalProperties: true }, 'error parsing grammar'],
  ['a bound that is a text', withArgument({ type: 'integer', minimum: '5' }), 'type must be number'],
  ['a bound over 64 bits', withArgument({ type: 'integer', minimum: 1e30 }), 'must be set'],
  ['a negative length', text({ minLength: -1 }), 'expecting an int'],
  ['a place that takes anything', list({ items: [true] }), 'Unrecognized schema: true'],
  ['a required that is no list', { ...text({}), required: 'value' }, 'type must be array'],
])('%s', (_, schema, says) => {
  test('is refused as it is', () => {
    expect(checkGrammar([toChatTool(toTool(schema))])).toContain(says)
  })

  test('is accepted as it is sent', () => {
    expect(checkGrammar(toShaped([toTool(schema)]))).toBe('')
  })
})

test('any tool is accepted as it is sent', () => {
  fc.assert(
    fc.property(argumentsOf, ({ schema }) => {
      expect(checkGrammar(toShaped([toTool(schema)]))).toBe('')
    }),
    { numRuns: 300 },
  )
})

test('every tool that the agent of a new hub sends with all five servers is accepted', async () => {
  const tools = await readFirstTools()
  expect(tools.length).toBeGreaterThan(50)
  expect(findRefused(checkGrammar, tools)).toEqual([])
})

describe('servers of others', () => testNpmGrammars(smallServers, 'npm-servers'))
