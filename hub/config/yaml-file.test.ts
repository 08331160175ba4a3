import { expect, test } from 'vitest'
import { z } from 'zod'
import { parseYaml } from './yaml-file.ts'

const schema = z.strictObject({
  port: z.int().min(1).optional(),
  key: z.string().optional(),
  list: z.array(z.union([z.string(), z.strictObject({ type: z.string() })])).optional(),
  deep: z.strictObject({ inner: z.strictObject({ name: z.string() }) }).optional(),
})
const environment = (name: string) => ({ KEY: 'k: "1"\n- x', TWO: '2' })[name]
const parse = (text: string, lineOffset = 0) =>
  parseYaml({ file: 'a.yaml', text, lineOffset }, schema, { environment })

const wrong = (text: string, lineOffset = 0): string => {
  try {
    parse(text, lineOffset)
  } catch (error) {
    expect(error).toMatchObject({ name: 'HubError', code: 'bad_request' })
    return error instanceof Error ? error.message : ''
  }
  return expect.unreachable('it was taken')
}

test('YAML and JSON are taken, and nothing at all is an empty object', () => {
  expect(parse('port: 1\nlist: [a, {type: b}]')).toEqual({ port: 1, list: ['a', { type: 'b' }] })
  expect(parse('{"port": 1}')).toEqual({ port: 1 })
  expect([parse(''), parse('# only a comment')]).toEqual([{}, {}])
})

test('a variable in braces is replaced in every text, whatever it holds, after the text was parsed', () => {
  expect(parse(`key: "a \${TWO}\${TWO}"\nlist: ["\${KEY}"]\ndeep: {inner: {name: "\${TWO}"}}`)).toEqual({
    key: 'a 22',
    list: ['k: "1"\n- x'],
    deep: { inner: { name: '2' } },
  })
})

test.for([
  [`port: 1\nkey: "\${NOPE}"`, 'a.yaml:2: key: the environment has no NOPE; set it or write the value'],
  [
    `list:\n  - a\n  - "\${NOPE}"`,
    'a.yaml:3: list.1: the environment has no NOPE; set it or write the value',
  ],
  ['port: 0', 'a.yaml:1: port: expected number to be >=1'],
  ['port: 1\nprot: 2', 'a.yaml:2: prot: no such key'],
  ['deep:\n  inner:\n    nmae: x\n    name: y', 'a.yaml:3: deep.inner.nmae: no such key'],
  ['deep:\n  inner: {}', 'a.yaml:2: deep.inner.name: is missing (expected string)'],
  ['port: 1\nlist:\n  - {type: 1}', 'a.yaml:3: list.0.type: expected string, received number'],
  ['- a', 'a.yaml:1: the whole: expected object, received array'],
  ['key: [a', 'a.yaml:1: Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ['key: a\nkey: b', 'a.yaml:2: Map keys must be unique'],
  ['key: &a [*a]', 'a.yaml:1: *a: stands for what contains it; write the value out'],
  ['key: &a\n  b: { c: *a }', 'a.yaml:2: *a: stands for what contains it; write the value out'],
  ['key: *high', 'a.yaml:1: *high: a text that begins with * needs quotes'],
  [
    'port: 1\nkey: {{ HOST }}',
    'a.yaml:2: a list or a mapping is no key; a text that begins with [ or { needs quotes',
  ],
  ['port: 1\nlist: [*]', 'a.yaml:2: a text that begins with * needs quotes'],
  ['port: 1\nkey: * * * * *', 'a.yaml:2: a text that begins with * needs quotes'],
] as const)('%j is refused: %s', ([text, message]) => expect(wrong(text)).toBe(message))

test('every problem is told at once, and lines count from the beginning of the file', () => {
  expect(wrong('port: 0\nprot: 2', 4).split('\n')).toEqual([
    'a.yaml:5: port: expected number to be >=1',
    'a.yaml:6: prot: no such key',
  ])
  expect(wrong('key: [a', 4)).toMatch(/^a\.yaml:5: /)
  expect(wrong(`key: "\${NOPE}"`, 4)).toMatch(/^a\.yaml:5: /)
  expect(wrong('key: *x', 4)).toMatch(/^a\.yaml:5: /)
})
