import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseDocument, stringify } from 'yaml'
import { changeEntry, type EntryChange, readEntry } from './server-entries.ts'

const FILE = `# The house
timezone: Europe/Berlin   # here

servers:
  # Files of the NAS.
  files:
    command: npx          # from npm
    args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv"]

  # Far away.
  remote: { url: "https://example.org/mcp", headers: { Authorization: "Bearer \${TOKEN}" } } # slow

  games: { env: { GAMES_DISCOVER: "true" } }
  metrics: false
  last:
    command: node
    args:
      - a.js
      - |
        two
        lines
# The end.
budget: { tokensPerDay: 1000 }
`
const change = (text: string, name: string, what: EntryChange) =>
  changeEntry({ file: 'superbloom.yaml', text }, name, what)

test.each([
  [
    'files',
    '    command: npx          # from npm',
    '    disabled: true\n    command: npx          # from npm',
  ],
  ['remote', '{ url:', '{ "disabled": true, url:'],
  ['games', '{ env:', '{ "disabled": true, env:'],
  ['last', '    command: node', '    disabled: true\n    command: node'],
  [
    'absent',
    '  # Files of the NAS.\n  files:',
    '  # Files of the NAS.\n  absent: { "disabled": true }\n  files:',
  ],
])('%s is disabled with nothing else touched, and enabled again to the same text', (name, before, after) => {
  const disabled = change(FILE, name, 'disable')
  expect(disabled).toBe(FILE.replace(before, after))
  expect(readEntry(disabled, name)).toMatchObject({ disabled: true })
  const enabled = change(disabled, name, 'enable')
  expect(enabled).toBe(name === 'absent' ? FILE.replace('  files:', '  absent: {}\n  files:') : FILE)
})

test.each([
  ['files', / {2}files:\n[\s\S]*"\/srv"\]\n/],
  ['remote', / {2}remote: .*\n/],
  ['metrics', / {2}metrics: false\n/],
  ['last', / {2}last:\n[\s\S]*lines\n/],
])('%s is removed with its lines and no others', (name, lines) => {
  expect(change(FILE, name, 'remove')).toBe(FILE.replace(lines, ''))
})

test('what was switched off with false is enabled without any setting', () => {
  expect(change(FILE, 'metrics', 'enable')).toBe(FILE.replace('metrics: false', 'metrics: {}'))
})

test.each([
  ['', 'servers:\n  metrics: { "disabled": true }\n'],
  ['timezone: UTC', 'timezone: UTC\nservers:\n  metrics: { "disabled": true }\n'],
  ['{"timezone": "UTC"}', '{ "servers": { "metrics": { "disabled": true } }, "timezone": "UTC"}'],
  ['mcpServers: { a: { command: b } }', 'mcpServers: { "metrics": { "disabled": true }, a: { command: b } }'],
  ['servers:\n  metrics:\n', 'servers:\n  metrics: { "disabled": true }\n'],
  ['servers: { metrics: false }', 'servers: { metrics: { "disabled": true } }'],
  ['servers: {}\n', 'servers: { "metrics": { "disabled": true } }\n'],
  ['servers: { metrics: { disabled: false } }', 'servers: { metrics: { disabled: true } }'],
])('%j gets an entry', (text, expected) => {
  expect(change(text, 'metrics', 'disable')).toBe(expected)
})

test('the last entry leaves an empty mapping, which the config takes', () => {
  expect(change('servers:\n  a:\n    command: b\n', 'a', 'remove')).toBe('servers:\n  {}\n')
  expect(change('servers: { a: { command: b } }\n', 'a', 'remove')).toBe('servers: {}\n')
})

test.each<[EntryChange, string]>([
  ['remove', 'servers:\n  a: &a { command: b }\n  c: *a\n'],
  ['disable', 'servers:\n  a: &a { command: b }\n  c: *a\n'],
  ['disable', 'servers: [a]\n'],
])('%s is left to a person in %j', (what, text) => {
  expect(() => change(text, text.includes('*a') ? (what === 'remove' ? 'a' : 'c') : 'a', what)).toThrow(
    /superbloom\.yaml.*by hand/,
  )
})

test('whatever the file holds, the change is done exactly or refused', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/)
  const text = fc.oneof(fc.string(), fc.constantFrom('true', 'a: b', '# no comment', 'two\nlines\n', ' x '))
  const entry = fc.oneof(
    fc.constant(false as const),
    fc.record(
      { command: text, args: fc.array(text), env: fc.dictionary(name, text), disabled: fc.boolean() },
      { requiredKeys: [] },
    ),
  )
  const servers = fc.dictionary(name, entry, { minKeys: 1, maxKeys: 4, noNullPrototype: true })
  const flow = fc.boolean()
  fc.assert(
    fc.property(servers, flow, fc.constantFrom('remove', 'disable', 'enable'), (given, isFlow, what) => {
      const value = { timezone: 'UTC', servers: given, budget: {} }
      const before = stringify(value, isFlow ? { collectionStyle: 'flow' } : {})
      const [target = ''] = Object.keys(given)
      const after: unknown = parseDocument(change(before, target, what)).toJS()
      const { [target]: old, ...others } = given
      const { disabled: _, ...rest } = old || {}
      const now = {
        remove: {},
        disable: { [target]: { ...old, disabled: true } },
        enable: { [target]: rest },
      }
      expect(after).toEqual({ ...value, servers: { ...others, ...now[what] } })
    }),
    { numRuns: 50 },
  )
})
