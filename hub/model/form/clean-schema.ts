import { isObject, type JsonObject } from '../../core/forwarding.ts'
import type { ToolForm } from './form.ts'
import { mapSchemas, mergeAll, propertiesOf, requiredOf } from './schemas.ts'

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']
const REPEATS = ['minLength', 'maxLength', 'minItems', 'maxItems']
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']

/**
 * Returns a schema, and all schemas in it, with only what the provider's dialect knows. The result has no
 * `oneOf` and no `allOf` at any depth, and none of the outdated or invalid JSON Schema that servers write and
 * that gets a whole request refused.
 */
export function cleanSchema(schema: unknown, form: ToolForm): JsonObject {
  const merged = withoutUnions(isObject(schema) ? schema : {})
  const whole = form.plainPatterns ? withPlainNames(merged) : merged
  const kept = Object.entries(whole).filter(([key, value]) => isKept(key, value, form))
  const valid = toValid(Object.fromEntries(kept))
  return mapSchemas(form.typed ? toTyped(valid) : valid, inner => cleanSchema(inner, form))
}

function isKept(key: string, value: unknown, form: ToolForm): boolean {
  if (form.without.includes(key)) return false
  if (key === 'pattern') return typeof value === 'string' && !(form.plainPatterns && !PLAIN.test(value))
  if (REPEATS.includes(key))
    return typeof value === 'number' && value >= 0 && value <= (form.largestRepeat ?? value)
  // An exclusive bound was a boolean in JSON Schema's draft 4; Mistral and OpenAI refuse it. llama.cpp counts
  // in 64 bits.
  if (BOUNDS.includes(key)) return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
  if (key === 'description' || key === 'title') return typeof value === 'string'
  if (key === 'properties') return isObject(value)
  return value !== undefined
}

/** A pattern that is anchored at both ends and has only characters, sets, `.` and repeats. */
const PLAIN =
  /^\^(?:\[\^?(?:[^\\[\]]|\\[^A-Za-z0-9])+\]|[^\\()[\]{}^$|]|\\[^A-Za-z0-9]|\{\d{1,3}(?:,\d{0,3})?\})*\$$/

/** Merges `allOf` into one schema, and turns `oneOf` into the `anyOf` that every dialect knows. */
function withoutUnions({ allOf, oneOf, ...schema }: JsonObject): JsonObject {
  const parts = Array.isArray(allOf) ? allOf.filter(isObject).map(withoutUnions) : []
  const merged = parts.length > 0 ? mergeAll([schema, ...parts]) : schema
  return Array.isArray(oneOf) ? { ...merged, anyOf: merged['anyOf'] ?? oneOf } : merged
}

/**
 * Removes a property named `$ref`, which llama.cpp's converter takes for a reference, and
 * `additionalProperties` beside names such as `filter[id]`, at which it fails. One such tool gets the whole
 * request refused.
 */
function withPlainNames(schema: JsonObject): JsonObject {
  const { $ref, ...properties } = propertiesOf(schema)
  const { additionalProperties: _, ...closed } = schema
  if (!Object.keys(properties).every(name => /^[\w.$-]+$/.test(name))) return { ...closed, properties }
  return $ref === undefined ? schema : { ...schema, properties, additionalProperties: true }
}

function toValid(schema: JsonObject): JsonObject {
  const { type: given, required: _, enum: values, anyOf, ...rest } = schema
  const types = [given].flat().filter((each): each is string => TYPES.some(known => known === each))
  const type = types.length > 1 ? types : types[0]
  const names = 'properties' in schema ? Object.keys(propertiesOf(schema)) : undefined
  const required = requiredOf(schema).filter(name => names?.includes(name) ?? true)
  return {
    ...(type !== undefined && { type }),
    ...rest,
    ...(Array.isArray(anyOf) && anyOf.length > 0 && { anyOf }),
    ...(required.length > 0 && { required }),
    ...toEnum(values, rest['description']),
    ...toItems(type, schema),
  }
}

/**
 * Keeps values of one type; other lists go into the description. Gemini refuses an empty text among the
 * values, and values of several types.
 */
function toEnum(values: unknown, description: unknown): JsonObject {
  if (!Array.isArray(values) || values.length === 0) return {}
  const isPlainList =
    new Set(values.map(value => typeof value)).size === 1 && !values.includes('') && !values.some(isObject)
  if (isPlainList) return { enum: [...new Set(values)] }
  return tellValues(values, description)
}

/** Writes `items` as one schema: Gemini and OpenAI refuse an array without it, and a list by position. */
function toItems(type: unknown, { items, prefixItems }: JsonObject): JsonObject {
  const places = Array.isArray(items) ? items : items === undefined ? prefixItems : undefined
  if (Array.isArray(places) && places.length > 0)
    return { items: places.length === 1 && isObject(places[0]) ? places[0] : { anyOf: places } }
  const isArray = [type].flat().includes('array')
  return isArray && !isObject(items) ? { items: {} } : {}
}

/** The one type to which each keyword belongs. */
const OF_TYPE: Readonly<Record<string, string>> = {
  items: 'array',
  minItems: 'array',
  maxItems: 'array',
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  minLength: 'string',
  maxLength: 'string',
  pattern: 'string',
  minimum: 'number',
  maximum: 'number',
}

/**
 * Returns a schema that names one type, or a union with nothing but a description beside it: Gemini refuses a
 * property without a type (https://github.com/danny-avila/LibreChat/issues/6971), and the keywords of a type
 * beside a union (https://github.com/anomalyco/opencode/pull/49392).
 */
export function toTyped(schema: JsonObject): JsonObject {
  const { anyOf, description, ...rest } = withTexts(schema)
  const told = description === undefined ? {} : { description }
  const branches = Array.isArray(anyOf) ? anyOf.filter(isObject) : []
  const saysMore = branches.some(branch => Object.keys(branch).some(key => !SAYS_LITTLE.includes(key)))
  if (saysMore) return { ...told, anyOf: branches.map(branch => mergeAll([branch, rest])) }
  const type = rest['type'] ?? typeOf(rest)
  if (!Array.isArray(type)) return { ...told, ...rest, type }
  const others = type.filter(each => each !== 'null')
  if (others.length === 1) return { ...told, ...rest }
  return { ...told, anyOf: type.map(each => ({ ...ofType(rest, each), type: each })) }
}

/**
 * Moves values that are no texts into the description: Gemini takes an `enum` of texts only
 * (https://github.com/decolua/9router/issues/359).
 */
function withTexts(schema: JsonObject): JsonObject {
  const { enum: listed, const: single, ...rest } = schema
  const values = listed ?? (single === undefined ? undefined : [single])
  if (!Array.isArray(values)) return schema
  const isText = [schema['type'] ?? 'string'].flat().includes('string')
  if (isText && values.every(value => typeof value === 'string' && value !== '')) return schema
  return { ...rest, type: rest['type'] ?? typeOf(schema), ...tellValues(values, rest['description']) }
}

/** Returns a description that lists the schema's values. */
export function tellValues(values: readonly unknown[], description: unknown): JsonObject {
  const said = `One of ${values.map(value => JSON.stringify(value)).join(', ')}`
  return { description: typeof description === 'string' ? `${description} ${said}` : said }
}

/** Keywords of an alternative that only says which properties are required. */
const SAYS_LITTLE = ['required', 'not', 'title', 'description']

function ofType(schema: JsonObject, type: string): JsonObject {
  const isOf = (key: string) =>
    OF_TYPE[key] === undefined || OF_TYPE[key] === type || (OF_TYPE[key] === 'number' && type === 'integer')
  const entries = Object.entries(schema).filter(([key]) => {
    if (key === 'enum') return type === 'string'
    return key !== 'type' && key !== 'const' && key !== 'default' && isOf(key)
  })
  return Object.fromEntries(entries)
}

function typeOf(schema: JsonObject): string {
  const [value] = Array.isArray(schema['enum']) ? schema['enum'] : [schema['const']]
  if (['number', 'boolean'].includes(typeof value)) return typeof value
  return (
    Object.keys(schema)
      .map(key => OF_TYPE[key])
      .find(Boolean) ?? 'string'
  )
}
