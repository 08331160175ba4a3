import { isObject, type Json, toList, toObject } from './json.ts'

/** A tool's schema, or one schema inside it. */
export interface SchemaNode {
  /** An object, or `true` or `false`, which are schemas too. */
  schema: unknown
  /** The keys and indexes that lead to it. */
  path: readonly (string | number)[]
}

const OF_NAMES = ['properties', 'patternProperties', '$defs', 'definitions']
const OF_LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const SINGLE = ['items', 'additionalProperties', 'propertyNames', 'not', 'contains']

/** Yields a schema and all schemas inside it. */
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

/** Yields only those schemas that are objects. */
export function* objectNodes(schema: unknown): Iterable<{ schema: Json; path: SchemaNode['path'] }> {
  for (const { schema: node, path } of schemaNodes(schema)) if (isObject(node)) yield { schema: node, path }
}

/** Tells whether a schema's `type` names this type. */
export const hasType = ({ type }: Json, name: string): boolean =>
  Array.isArray(type) ? type.includes(name) : type === name

/** Resolves a reference to a part of the root schema. */
export function resolveRef(root: unknown, ref: string): unknown {
  return ref
    .split('/')
    .slice(1)
    .reduce<unknown>((node, key) => toObject(node)[key.replaceAll('~1', '/').replaceAll('~0', '~')], root)
}
