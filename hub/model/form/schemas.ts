import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject } from '../../core/forwarding.ts'
import { atPointer } from '../../core/json.ts'

const HOLDS_ONE = new Set(
  'items additionalItems additionalProperties contains not if then else propertyNames unevaluatedItems unevaluatedProperties'.split(
    ' ',
  ),
)
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

/** Returns one schema for what fulfils all of these, as far as it can without `allOf`. The first wins. */
export function mergeAll(schemas: readonly JsonObject[]): JsonObject {
  const properties = schemas.reduce<JsonObject>(
    (all, schema) => mergeProperties(all, propertiesOf(schema), one => one),
    {},
  )
  const required = [...new Set(schemas.flatMap(requiredOf))]
  return {
    ...Object.assign({}, ...schemas.toReversed()),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  }
}

/** Returns the properties of both; `merge` decides about a property that both have. */
export function mergeProperties(
  some: JsonObject,
  others: JsonObject,
  merge: (one: unknown, other: unknown) => unknown,
): JsonObject {
  const merged = new Map(Object.entries(some))
  for (const [name, schema] of Object.entries(others)) {
    merged.set(name, merged.has(name) ? merge(merged.get(name), schema) : schema)
  }
  return Object.fromEntries(merged)
}

/** Returns one schema for values that fulfil either: the listed values of both, else a union. */
export function mergeEither(one: unknown, other: unknown): unknown {
  if (isDeepStrictEqual(one, other)) return one
  const [first, second] = [valuesOf(one), valuesOf(other)]
  if (first && second && isObject(one)) {
    const { const: _, type, ...rest } = one
    const isOfType = isDeepStrictEqual(type, isObject(other) && other['type'])
    return { ...rest, ...(isOfType && { type }), enum: [...new Set([...first, ...second])] }
  }
  const known =
    isObject(one) && Array.isArray(one['anyOf']) && Object.keys(one).length === 1 ? one['anyOf'] : [one]
  return known.some(each => isDeepStrictEqual(each, other)) ? one : { anyOf: [...known, other] }
}

function valuesOf(schema: unknown): unknown[] | undefined {
  if (!isObject(schema)) return undefined
  if (Array.isArray(schema['enum'])) return schema['enum']
  return 'const' in schema ? [schema['const']] : undefined
}

export function propertiesOf(schema: unknown): JsonObject {
  const properties = isObject(schema) ? schema['properties'] : undefined
  return isObject(properties) ? properties : {}
}

/** Returns the names of an object's required fields; [] where the schema has no valid list. */
export function requiredOf(schema: unknown): string[] {
  const required = isObject(schema) ? schema['required'] : undefined
  return Array.isArray(required) ? required.filter(name => typeof name === 'string') : []
}

/** Times that a schema is inlined within itself; deeper references are left open. */
const MOST_TURNS = 2
/** Most schemas that are inlined: a few that name each other can stand for millions. */
const MOST_INLINED = 500

/**
 * Replaces each `$ref` by its schema. A reference that leads elsewhere or too deep takes any value of its
 * type.
 */
export function inlineRefs(root: JsonObject): JsonObject {
  let left = MOST_INLINED
  const inline = (schema: unknown, within: readonly string[]): unknown => {
    if (!isObject(schema)) return schema
    if (within.length > 0 && left-- <= 0) return toOpen(schema)
    const { $ref: ref, $defs: _, definitions: __, ...rest } = schema
    const inlined = mapSchemas(rest, inner => inline(inner, within))
    if (typeof ref !== 'string') return inlined
    const target = atPointer(root, ref)
    const isTooDeep = within.filter(each => each === ref).length >= MOST_TURNS
    const found = isTooDeep ? toOpen(target) : inline(target, [...within, ref])
    return { ...(isObject(found) ? found : {}), ...inlined }
  }
  const inlined = inline(root, [])
  return isObject(inlined) ? inlined : {}
}

function toOpen(schema: unknown): JsonObject {
  const { type, description } = isObject(schema) ? schema : {}
  return {
    ...(typeof type === 'string' && { type }),
    ...(typeof description === 'string' && { description }),
  }
}
