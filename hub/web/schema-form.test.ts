import { expect, test } from 'vitest'
import { readSchemaFields, toArguments } from './schema-form.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    note: { type: 'string', description: 'What to say' },
    unit: { enum: ['C', 'F'], default: 'C' },
    count: { type: ['integer', 'null'] },
    share: { anyOf: [{ type: 'number' }, { type: 'null' }], title: 'Share' },
    loud: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    place: { $ref: '#/$defs/place' },
    path: { type: 'string' },
  },
  required: ['path', 'tags'],
  $defs: { place: { type: 'object', description: 'Where' } },
}

test('each property has the field that can hold it, the required ones first', () => {
  const fields = readSchemaFields(SCHEMA)
  expect(fields.map(({ name, kind, required, initial }) => [name, kind, required, initial])).toEqual([
    ['tags', 'json', true, ''],
    ['path', 'text', true, ''],
    ['note', 'text', false, ''],
    ['unit', 'choice', false, '"C"'],
    ['count', 'integer', false, ''],
    ['share', 'number', false, ''],
    ['loud', 'boolean', false, ''],
    ['place', 'json', false, ''],
  ])
  expect(fields.find(({ name }) => name === 'place')?.about).toBe('Where. JSON (object)')
  expect(readSchemaFields({ type: 'object' })).toEqual([])
})

test('what is typed becomes arguments of its types; what is empty is left out', () => {
  const fields = readSchemaFields(SCHEMA)
  const typed = {
    tags: '["a"]',
    path: '/srv',
    unit: '"F"',
    count: '3',
    share: '0.5',
    loud: 'true',
    place: '',
  }
  expect(toArguments(fields, typed)).toEqual({
    args: { tags: ['a'], path: '/srv', unit: 'F', count: 3, share: 0.5, loud: true },
  })
})

test('what does not fit is said at its field', () => {
  const fields = readSchemaFields(SCHEMA)
  expect(toArguments(fields, { tags: '', path: '', count: '1.5', share: 'x', place: '{' })).toEqual({
    errors: {
      tags: 'This is needed.',
      count: 'This is no whole number.',
      share: 'This is no number.',
      place: expect.stringContaining('This is no JSON'),
    },
  })
})
