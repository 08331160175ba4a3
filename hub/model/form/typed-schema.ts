import { isObject, type JsonObject } from '../../core/forwarding.ts'
import { mergeAll } from './merge-schemas.ts'

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
  if (branches.some(saysMore)) return { ...told, anyOf: branches.map(branch => mergeAll([branch, rest])) }
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

/** Tells whether an alternative says more than which properties are required. */
function saysMore(branch: JsonObject): boolean {
  return Object.keys(branch).some(key => !['required', 'not', 'title', 'description'].includes(key))
}

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
