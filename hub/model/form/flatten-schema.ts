import { isObject, type JsonObject } from '../../core/forwarding.ts'
import { mergeAll, mergeEither, mergeProperties, propertiesOf, requiredOf } from './schemas.ts'

const NOT_AT_TOP = ['allOf', 'anyOf', 'oneOf', 'not', 'enum', 'const', 'if', 'then', 'else']

export interface Flattened {
  /** An object without `anyOf`, `oneOf`, `allOf`, `not`, `enum` and conditions at its top. */
  schema: JsonObject
  /** Constraints that the schema no longer has, for the tool's description. */
  notes: string[]
}

/**
 * Returns the arguments' schema as one object. OpenAI and Anthropic refuse a whole request for a union at the
 * top of one tool (https://github.com/anthropics/claude-code/issues/5973), so a union becomes all properties
 * of its alternatives. It requires only those that every alternative requires.
 */
export function flattenSchema(given: JsonObject): Flattened {
  const { allOf, anyOf, oneOf, then, else: otherwise } = given
  const base = Object.fromEntries(Object.entries(given).filter(([key]) => !NOT_AT_TOP.includes(key)))
  const parts = [base, ...toObjects(allOf)].map((part, at) =>
    at === 0 ? { schema: part, notes: [] } : flattenSchema(part),
  )
  let schema = mergeAll(parts.map(part => part.schema))
  const notes = parts.flatMap(part => part.notes)
  for (const union of [anyOf, oneOf]) {
    const branches = toObjects(union).map(flattenSchema)
    if (branches.length === 0) continue
    notes.push(...describeUnion(schema, branches), ...branches.flatMap(branch => branch.notes))
    schema = mergeUnion(schema, branches)
  }
  const conditional = [then, otherwise].reduce<JsonObject>(
    (all, part) => mergeProperties(all, propertiesOf(part), mergeEither),
    {},
  )
  const properties = mergeProperties(propertiesOf(schema), conditional, one => one)
  return { schema: { ...schema, type: 'object', properties }, notes }
}

function toObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function mergeUnion(base: JsonObject, branches: readonly Flattened[]): JsonObject {
  const all = branches.reduce<JsonObject>(
    (merged, { schema }) => mergeProperties(merged, propertiesOf(schema), mergeEither),
    {},
  )
  const shared = branches
    .map(({ schema }) => requiredOf(schema))
    .reduce((some, others) => some.filter(name => others.includes(name)))
  return mergeAll([base, { properties: all, required: shared }])
}

/** Returns a note such as "Give one of these: kind="url" and url; kind="file" and path." */
function describeUnion(base: JsonObject, branches: readonly Flattened[]): string[] {
  const known = requiredOf(base)
  const told = branches.map(({ schema }) => {
    const properties = propertiesOf(schema)
    const fixed = Object.keys(properties).filter(name => isFixed(properties[name]))
    const names = [...new Set([...fixed, ...requiredOf(schema).filter(name => !known.includes(name))])]
    return names
      .map(name => (isFixed(properties[name]) ? `${name}=${JSON.stringify(properties[name].const)}` : name))
      .join(' and ')
  })
  const said = [...new Set(told.filter(Boolean))]
  return said.length < 2 ? [] : [`Give one of these: ${said.join('; ')}.`]
}

function isFixed(schema: unknown): schema is { const: unknown } {
  return isObject(schema) && 'const' in schema
}
