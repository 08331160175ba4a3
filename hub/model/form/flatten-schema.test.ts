import { describe, expect, it } from 'vitest'
import { flattenSchema } from './flatten-schema.ts'

const string = { type: 'string' }
const integer = { type: 'integer' }

describe('flattenSchema', () => {
  it.each([
    [
      'an object',
      { type: 'object', properties: { a: string }, required: ['a'], additionalProperties: false },
    ],
    ['one without arguments', { type: 'object', properties: {} }],
  ])('leaves %s', (_, schema) => {
    expect(flattenSchema(schema)).toEqual({ schema, notes: [] })
  })

  it('makes a union all properties of its alternatives, and tells them', () => {
    const url = {
      type: 'object',
      properties: { kind: { const: 'url' }, url: string, retries: integer },
      required: ['kind', 'url'],
    }
    const file = {
      type: 'object',
      properties: { kind: { const: 'file' }, path: string },
      required: ['kind', 'path'],
    }
    expect(flattenSchema({ oneOf: [url, file] })).toEqual({
      schema: {
        type: 'object',
        properties: { kind: { enum: ['url', 'file'] }, url: string, retries: integer, path: string },
        required: ['kind'],
      },
      notes: ['Give one of these: kind="url" and url; kind="file" and path.'],
    })
  })

  it('tells which of its properties are required together', () => {
    const base = { type: 'object', properties: { route: string, file: string, x: string }, required: ['x'] }
    expect(flattenSchema({ ...base, anyOf: [{ required: ['route'] }, { required: ['file'] }] })).toEqual({
      schema: base,
      notes: ['Give one of these: route; file.'],
    })
  })

  it('joins what has to hold at once, unions in it too', () => {
    const allOf = [
      { properties: { a: string }, required: ['a'] },
      { anyOf: [{ properties: { b: string } }, { properties: { b: integer } }] },
    ]
    expect(flattenSchema({ allOf, properties: { c: string }, required: ['c'] }).schema).toEqual({
      type: 'object',
      properties: { c: string, a: string, b: { anyOf: [string, integer] } },
      required: ['c', 'a'],
    })
  })

  it('drops what no object at the top can say', () => {
    const given = JSON.parse(
      '{"type":"string","enum":["a"],"const":"a","not":{},"if":{},"then":{"properties":{"t":{"type":"string"}}},"else":true}',
    )
    expect(flattenSchema(given)).toEqual({
      schema: { type: 'object', properties: { t: string } },
      notes: [],
    })
  })
})
