import { isObject, type JsonObject } from '../../core/forwarding.ts'

const HOLDS_ONE = new Set([
  'items',
  'additionalItems',
  'additionalProperties',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
])
const HOLDS_LIST = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'])
const HOLDS_NAMED = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'])

/**
 * Returns the schema with each schema directly in it replaced. It never takes the name of a property for a
 * keyword, nor a value (`default`, `enum`, `const`) for a schema.
 */
export function mapSchemas(schema: JsonObject, toSchema: (inner: unknown) => unknown): JsonObject {
  return mapValues(schema, (value, key) => {
    if (HOLDS_NAMED.has(key) && isObject(value)) return mapValues(value, toSchema)
    if (HOLDS_LIST.has(key) && Array.isArray(value)) return value.map(toSchema)
    return HOLDS_ONE.has(key) && isObject(value) ? toSchema(value) : value
  })
}

/** Maps the values of an object. A key such as `__proto__` stays a key. */
function mapValues(object: JsonObject, toValue: (value: unknown, key: string) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, toValue(value, key)]))
}
