import { describe, expect, it } from 'vitest'
import { mapSchemas, mergeAll, mergeEither } from './schemas.ts'

it('takes the name of a property for no keyword, and a value for no schema', () => {
  const schema = {
    items: { a: 1 },
    anyOf: [{ a: 2 }],
    properties: { items: { a: 3 }, enum: { a: 4 } },
    additionalProperties: false,
    default: { items: { a: 5 } },
    enum: [{ a: 6 }],
  }
  expect(mapSchemas(schema, () => 'schema')).toEqual({
    items: 'schema',
    anyOf: ['schema'],
    properties: { items: 'schema', enum: 'schema' },
    additionalProperties: false,
    default: { items: { a: 5 } },
    enum: [{ a: 6 }],
  })
})

const string = { type: 'string' }

describe('mergeAll', () => {
  it('has the properties of all, and what is first of the rest', () => {
    const first = { title: 'A', properties: { a: string }, required: ['a'] }
    const second = { title: 'B', description: 'b', properties: { a: {}, b: {} }, required: ['a', 'b'] }
    expect(mergeAll([first, second])).toEqual({
      title: 'A',
      description: 'b',
      properties: { a: string, b: {} },
      required: ['a', 'b'],
    })
  })
})

describe('mergeEither', () => {
  it.each([
    ['the same', string, { ...string }, string],
    [
      'values',
      { const: 'a', description: 'd' },
      { enum: ['a', 'b'] },
      { description: 'd', enum: ['a', 'b'] },
    ],
    [
      'values of one type',
      { ...string, const: 'a' },
      { ...string, const: 'b' },
      { ...string, enum: ['a', 'b'] },
    ],
    ['values of two types', { ...string, const: 'a' }, { type: 'integer', const: 1 }, { enum: ['a', 1] }],
    ['others', string, { type: 'null' }, { anyOf: [string, { type: 'null' }] }],
    ['a third', { anyOf: [string, {}] }, { type: 'null' }, { anyOf: [string, {}, { type: 'null' }] }],
    ['one of two', { anyOf: [string, {}] }, string, { anyOf: [string, {}] }],
  ])('%s', (_, one, other, merged) => {
    expect(mergeEither(one, other)).toEqual(merged)
  })
})
