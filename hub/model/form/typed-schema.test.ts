import { expect, it } from 'vitest'
import { toTyped } from './typed-schema.ts'

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
