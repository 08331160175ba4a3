import { isObject, type Json, toList, toObject } from './json.ts'

/** One schema of a tool's schema: itself or any below it. */
export interface SchemaNode {
  /** An object, or `true` and `false`, which are schemas too. */
  schema: unknown
  /** The keys and positions that lead to it. */
  path: readonly (string | number)[]
}

const OF_NAMES = ['properties', 'patternProperties', '$defs', 'definitions']
const OF_LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const SINGLE = ['items', 'additionalProperties', 'propertyNames', 'not', 'contains']

/** A schema and every schema below it. */
export function* schemaNodes(schema: unknown, path: readonly (string | number)[] = []): Iterable<SchemaNode> {
  yield { schema, path }
  const node = toObject(schema)
  for (const key of OF_NAMES)
    for (const [name, child] of Object.entries(toObject(node[key])))
      yield* schemaNodes(child, [...path, key, name])
  for (const key of OF_LISTS)
    for (const [index, child] of toList(node[key]).entries()) yield* schemaNodes(child, [...path, key, index])
  for (const key of SINGLE) if (key in node) yield* schemaNodes(node[key], [...path, key])
}

/** The same without what is no object. */
export function* objectNodes(schema: unknown): Iterable<{ schema: Json; path: SchemaNode['path'] }> {
  for (const { schema: node, path } of schemaNodes(schema)) if (isObject(node)) yield { schema: node, path }
}

/** Whether a schema lets a type through; one without a type lets all through. */
export const hasType = ({ type }: Json, name: string): boolean =>
  Array.isArray(type) ? type.includes(name) : type === name

/** What a reference to the schema's own root names. */
export function resolveRef(root: unknown, ref: string): unknown {
  return ref
    .split('/')
    .slice(1)
    .reduce<unknown>((node, key) => toObject(node)[key.replaceAll('~1', '/').replaceAll('~0', '~')], root)
}
