import { expect, test } from 'vitest'
import { fitNulls } from './fit-nulls.ts'

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    limit: { type: 'integer' },
    kind: { enum: ['a', 'b'] },
    when: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    size: { type: ['integer', 'null'] },
    either: { oneOf: [{ type: 'string' }, { type: 'number' }] },
    any: {},
    same: { $ref: '#/$defs/same' },
  },
  required: ['name'],
}

test('null in an optional argument that knows no null is left out of the call', () => {
  const nulls = Object.fromEntries([...Object.keys(schema.properties), 'unknown'].map(key => [key, null]))
  expect(fitNulls(nulls, schema)).toEqual({
    name: null,
    when: null,
    size: null,
    any: null,
    same: null,
    unknown: null,
  })
  expect(fitNulls({ name: 'x', limit: 0, kind: '' }, schema)).toEqual({ name: 'x', limit: 0, kind: '' })
})

test('arguments of a tool without a schema stay as they are', () => {
  for (const none of [undefined, {}, { properties: null }])
    expect(fitNulls({ a: null }, none)).toEqual({ a: null })
})
