import { describe, expect, it } from 'vitest'
import { providers } from '../providers/index.ts'
import { cleanSchema, toTyped } from './clean-schema.ts'
import type { ToolForm } from './form.ts'

const { tools: plain } = providers.openai.form({
  provider: 'openai',
  baseUrl: 'http://h',
  model: 'm',
  vision: false,
})

const CASES: [what: string, form: Partial<ToolForm>, given: unknown, sent: object][] = [
  [
    'keywords go at any depth, properties of their names stay',
    { without: ['format', 'not'] },
    {
      type: 'object',
      format: 'x',
      properties: {
        format: { type: 'string', format: 'uri' },
        not: { type: 'array', items: { not: {}, format: 'x' } },
      },
      required: ['format', 'not'],
    },
    {
      type: 'object',
      properties: { format: { type: 'string' }, not: { type: 'array', items: {} } },
      required: ['format', 'not'],
    },
  ],
  [
    'values stay',
    { without: ['format'] },
    { default: { format: 1 }, const: { format: 2 } },
    { default: { format: 1 }, const: { format: 2 } },
  ],
  [
    'repeats are limited',
    { largestRepeat: 64 },
    { maxLength: 64, minLength: 65, items: { maxItems: 100 } },
    { maxLength: 64, items: {} },
  ],
  ['or are not', {}, { maxLength: 100_000 }, { maxLength: 100_000 }],
  [
    'patterns are plain',
    { plainPatterns: true },
    { pattern: '^[a-z]{2,3}-\\.x*$' },
    { pattern: '^[a-z]{2,3}-\\.x*$' },
  ],
  ...['^\\d+$', '^(?:a|b)$', '^(?=a).$', 'abc', '^(a)$'].map((pattern): (typeof CASES)[number] => [
    `the pattern ${pattern} goes`,
    { plainPatterns: true },
    { pattern },
    {},
  ]),
  ['or any', {}, { pattern: '^\\d+$' }, { pattern: '^\\d+$' }],
  [
    'a property named $ref, a reference to a grammar, is one of any others',
    { plainPatterns: true },
    { properties: { a: { properties: { $ref: {} } }, $ref: {} }, required: ['a', '$ref'] },
    {
      properties: { a: { properties: {}, additionalProperties: true } },
      required: ['a'],
      additionalProperties: true,
    },
  ],
  [
    'beside names that no grammar can leave out there are no others',
    { plainPatterns: true },
    { properties: { $ref: {}, 'filter[id]': {} }, additionalProperties: { type: 'string' } },
    { properties: { 'filter[id]': {} } },
  ],
  [
    'names stay as they are elsewhere',
    {},
    { properties: { $ref: {}, größe: {} }, additionalProperties: true },
    { properties: { $ref: {}, größe: {} }, additionalProperties: true },
  ],
  ['no repeat is negative', {}, { minLength: -1, minItems: 0 }, { minItems: 0 }],
  ['a bound is a number', {}, { minimum: '5', maximum: null }, {}],
  ['that a grammar can count to', {}, { minimum: -1, maximum: 1e30 }, { minimum: -1 }],
  [
    'a place that takes anything',
    {},
    { type: 'array', items: [true] },
    { type: 'array', items: { anyOf: [{}] } },
  ],
  ['the switches of draft 4 go', {}, { minimum: 0, exclusiveMinimum: true }, { minimum: 0 }],
  [
    'a required property is one that there is',
    {},
    { properties: { a: {} }, required: ['a', 'b'] },
    { properties: { a: {} }, required: ['a'] },
  ],
  ['required is a list', {}, { type: 'string', required: true }, { type: 'string' }],
  [
    'types are those of JSON',
    {},
    { properties: { a: { type: 'any' }, b: { type: ['string', 'date'] } } },
    { properties: { a: {}, b: { type: 'string' } } },
  ],
  ['an array says what it holds', {}, { type: 'array' }, { type: 'array', items: {} }],
  [
    'a list of places is a choice',
    {},
    { type: 'array', items: [{ type: 'string' }, { type: 'null' }] },
    { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
  ],
  ['true is anything', {}, { properties: { a: true } }, { properties: { a: {} } }],
  [
    'oneOf is anyOf',
    {},
    { properties: { a: { oneOf: [{ type: 'string' }] } } },
    { properties: { a: { anyOf: [{ type: 'string' }] } } },
  ],
  [
    'allOf is one schema',
    {},
    {
      properties: {
        a: {
          description: 'A',
          allOf: [
            { type: 'object', properties: { b: {} } },
            { properties: { c: {} }, required: ['c'] },
          ],
        },
      },
    },
    {
      properties: { a: { type: 'object', description: 'A', properties: { b: {}, c: {} }, required: ['c'] } },
    },
  ],
  [
    'keywords go out of allOf too',
    { without: ['format'] },
    { allOf: [{ type: 'string', format: 'uri' }] },
    { type: 'string' },
  ],
  ['values of many types are told', {}, { enum: ['a', 1, null] }, { description: 'One of "a", 1, null' }],
  [
    'an empty text among values is told',
    {},
    { type: 'string', description: 'Which.', enum: ['', 'a'] },
    { type: 'string', description: 'Which. One of "", "a"' },
  ],
  ['an empty list of values goes', {}, { enum: [] }, {}],
  ['what is no schema is anything', {}, 'x', {}],
]

describe('cleanSchema', () => {
  it.each(CASES)('%s', (_, form, given, sent) => {
    expect(cleanSchema(given, { ...plain, ...form })).toEqual(sent)
  })

  it('keeps a property called __proto__', () => {
    const given = JSON.parse('{"properties":{"__proto__":{"type":"string"}}}')
    expect(JSON.stringify(cleanSchema(given, plain))).toBe('{"properties":{"__proto__":{"type":"string"}}}')
  })
})

it.each([
  ['a type stays', { type: 'string', format: 'x' }, { type: 'string', format: 'x' }],
  ['one type and null stay', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
  ['anything is a text', { description: 'any' }, { type: 'string', description: 'any' }],
  ['properties make an object', { properties: {} }, { type: 'object', properties: {} }],
  ['items make an array', { items: {} }, { type: 'array', items: {} }],
  ['values are texts', { enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
  ['other values are told', { enum: [1, 2] }, { type: 'number', description: 'One of 1, 2' }],
  [
    'so are texts of another type, which the package throws for',
    { type: 'boolean', enum: ['true', 'false'] },
    { type: 'boolean', description: 'One of "true", "false"' },
  ],
  [
    'texts or null stay',
    { type: ['string', 'null'], enum: ['a'] },
    { type: ['string', 'null'], enum: ['a'] },
  ],
  [
    'a single one too',
    { const: 1, type: 'integer', description: 'd' },
    { type: 'integer', description: 'd One of 1' },
  ],
  [
    'types are branches with what is theirs',
    { description: 'd', type: ['array', 'string'], items: { type: 'string' }, maxLength: 3, default: 'x' },
    {
      description: 'd',
      anyOf: [
        { type: 'array', items: { type: 'string' } },
        { type: 'string', maxLength: 3 },
      ],
    },
  ],
  [
    'what stands beside a union goes into it',
    {
      description: 'd',
      type: 'object',
      properties: { a: {} },
      anyOf: [{ properties: { b: {} } }, { type: 'null' }],
    },
    {
      description: 'd',
      anyOf: [
        { type: 'object', properties: { b: {}, a: {} } },
        { type: 'null', properties: { a: {} } },
      ],
    },
  ],
  [
    'a choice of what is required goes',
    { type: 'object', properties: { a: {} }, anyOf: [{ required: ['a'] }, {}] },
    { type: 'object', properties: { a: {} } },
  ],
])('%s', (_, schema, typed) => {
  expect(toTyped(schema)).toEqual(typed)
})
