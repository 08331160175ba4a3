import { isObject, type JsonObject } from '../core/forwarding.ts'

/**
 * Returns the arguments without nulls in optional fields whose schema does not allow null. Models write null
 * for an argument that they leave out, and servers refuse the call for it.
 */
export function fitNulls(args: JsonObject, schema: unknown): JsonObject {
  const { properties, required } = isObject(schema) ? schema : {}
  if (!isObject(properties)) return args
  const needed = new Set(Array.isArray(required) ? required : [])
  const fields = Object.entries(args).filter(
    ([key, value]) => value !== null || needed.has(key) || allowsNull(properties[key]),
  )
  return Object.fromEntries(fields)
}

/** Tells whether a schema allows null; true if it does not say, so that the server decides. */
function allowsNull(schema: unknown): boolean {
  if (!isObject(schema)) return true
  const { type, anyOf, oneOf } = schema
  if ('const' in schema) return schema['const'] === null
  if (Array.isArray(schema['enum'])) return schema['enum'].includes(null)
  if (type !== undefined) return [type].flat().includes('null')
  const choices = Array.isArray(anyOf) ? anyOf : oneOf
  return Array.isArray(choices) ? choices.some(allowsNull) : true
}
