import { expect, it } from 'vitest'
import { mapSchemas } from './map-schemas.ts'

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
