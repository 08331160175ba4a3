import { expect, test } from 'vitest'
import { addHosts } from './host-names.ts'

const add = (text: string, ...names: string[]) => addHosts({ file: 'superbloom.yaml', text }, names)

test.each([
  ['no file', '', 'hosts: ["192.168.1.20"]\n'],
  ['other keys', 'timezone: UTC # of the house', 'timezone: UTC # of the house\nhosts: ["192.168.1.20"]\n'],
  ['an empty list', 'hosts: []\n', 'hosts: ["192.168.1.20"]\n'],
  ['a list in a line', 'hosts: [hub.lan] # mine\n', 'hosts: ["192.168.1.20", hub.lan] # mine\n'],
  [
    'a list of lines',
    'hosts:\n  # mine\n  - hub.lan\nbudget: {}\n',
    'hosts:\n  # mine\n  - "192.168.1.20"\n  - hub.lan\nbudget: {}\n',
  ],
  ['JSON', '{ "servers": {} }', '{ "hosts": ["192.168.1.20"], "servers": {} }'],
  ['the name itself', 'hosts: [192.168.1.20]\n', 'hosts: [192.168.1.20]\n'],
  ['comments alone', '# nothing yet\n', '# nothing yet\nhosts: ["192.168.1.20"]\n'],
])('a name is added where the file has %s', (_what, text, expected) => {
  expect(add(text, '192.168.1.20')).toBe(expected)
})

test('several names keep their order', () => {
  expect(add('hosts:\n- hub.lan\n', '192.168.1.20', '10.0.0.4')).toBe(
    'hosts:\n- "192.168.1.20"\n- "10.0.0.4"\n- hub.lan\n',
  )
})

test.each(['hosts: &all [a]\nx: *all\n', 'hosts: hub.lan\n', '- a\n- b\n', 'timezone: UTC\n...\n', 'a: {\n'])(
  'what cannot be changed safely is left, with the line to write: %j',
  text => {
    expect(() => add(text, '192.168.1.20')).toThrow(
      /^superbloom\.yaml: cannot be changed safely: write hosts: \[.*"192\.168\.1\.20"\] by hand\.$/,
    )
  },
)
