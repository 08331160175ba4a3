import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseDocument, stringify } from 'yaml'
import { changeList, describeByHand, setKey } from './edit-yaml.ts'

const source = (text: string) => ({ file: 'superbloom.yaml', text })
const PATH = ['tools', 'approve']

const BLOCK = `# The house
tools:
  # Asks me.
  approve:
    - stop_game_server # the children play
    - delete_*
  deny: ["x"] # never
# The end.
`

test('a list keeps its comments when an item comes and goes', () => {
  const added = changeList(source(BLOCK), PATH, 'files__write', 'add')
  expect(added).toBe(BLOCK.replace('    - delete_*\n', '    - delete_*\n    - "files__write"\n'))
  expect(changeList(source(added), PATH, 'files__write', 'remove')).toBe(BLOCK)
  expect(changeList(source(BLOCK), PATH, 'delete_*', 'add')).toBe(BLOCK)
  expect(changeList(source(BLOCK), ['tools', 'deny'], 'y', 'add')).toBe(BLOCK.replace('["x"]', '["x", "y"]'))
})

test.each([
  ['', 'tools:\n  approve: ["x"]\n'],
  ['timezone: UTC # here', 'timezone: UTC # here\ntools:\n  approve: ["x"]\n'],
  ['tools:\n  deny: []\n', 'tools:\n  approve: ["x"]\n  deny: []\n'],
  ['tools: { approve: [] }\n', 'tools: { approve: ["x"] }\n'],
  ['{"tools":{"approve":["a"]}}', '{"tools":{"approve":["a", "x"]}}'],
])('%j gets an item', (text, expected) => {
  expect(changeList(source(text), PATH, 'x', 'add')).toBe(expected)
})

test('the last item takes its key with it', () => {
  const text = 'tools:\n  deny: [a]\n  approve:\n    - x\nbudget: {}\n'
  expect(changeList(source(text), PATH, 'x', 'remove')).toBe('tools:\n  deny: [a]\nbudget: {}\n')
})

test('what cannot be changed safely is said, with the lines to write', () => {
  expect(() => setKey(source('a: 1\ntools: &t { deny: [] }\nb: *t\n'), ['b', 'deny'], ['x'])).toThrow(
    /superbloom\.yaml:3: cannot be changed safely.*by hand: write\nb:\n {2}deny: \["x"\]/,
  )
  expect(describeByHand(['servers', 'a'], undefined)).toBe('delete the key servers.a')
})

test('whatever a list holds, an item is added and removed exactly', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('*', 'true', '# x', 'a: b', 'two\nlines\n', '- x', ' '))
  fc.assert(
    fc.property(fc.uniqueArray(text, { maxLength: 4 }), text, fc.boolean(), (items, item, isFlow) => {
      const value = { timezone: 'UTC', tools: { approve: items, deny: ['z'] }, budget: {} }
      const before = stringify(value, isFlow ? { collectionStyle: 'flow' } : {})
      const read = (changed: string): unknown => parseDocument(changed).getIn(PATH, false)
      const listOf = (changed: string) => JSON.parse(JSON.stringify(read(changed) ?? []))
      const added = changeList(source(before), PATH, item, 'add')
      expect(listOf(added)).toEqual(items.includes(item) ? items : [...items, item])
      const removed = changeList(source(added), PATH, item, 'remove')
      expect(listOf(removed)).toEqual(items.filter(one => one !== item))
    }),
    { numRuns: 100 },
  )
})
