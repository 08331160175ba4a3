import { type IndexedTool, splitHumps } from './sqlite-tool-index.ts'

/** Characters of a tool's arguments that are indexed, and levels of their schemas that are read. */
const MOST_ARGUMENTS = 4_000
const DEEPEST = 6

/** Returns what the search over tools reads of one; `about` is its server's self-description. */
export function toIndexedTool(
  tool: { name: string; title?: string | undefined; description?: string | undefined; inputSchema: unknown },
  about = '',
): IndexedTool {
  return {
    name: tool.name,
    words: inWords(tool.name),
    title: tool.title ?? '',
    description: tool.description ?? '',
    arguments: describe(tool.inputSchema, DEEPEST).join(' ').slice(0, MOST_ARGUMENTS),
    more: about,
  }
}

/** Returns a name as it is, followed by its words if it has humps. */
function inWords(name: string): string {
  const words = splitHumps(name)
  return words === name ? name : `${name} ${words}`
}

/** Collects a schema's words: the names of what it holds, descriptions, and the values to choose from. */
function describe(schema: unknown, deep: number): string[] {
  if (deep === 0 || typeof schema !== 'object' || schema === null) return []
  if (Array.isArray(schema)) return schema.flatMap(one => describe(one, deep - 1))
  const { title, description, enum: choices, const: only, properties, ...rest } = schema as JsonSchema
  const said = [title, description, only, ...(Array.isArray(choices) ? choices : [])]
  return [
    ...said.filter(word => typeof word === 'string'),
    ...Object.entries(properties ?? {}).flatMap(([name, inner]) => [
      inWords(name),
      ...describe(inner, deep - 1),
    ]),
    ...NESTED.flatMap(key => describe(rest[key], deep - 1)),
  ]
}

const NESTED = ['items', 'anyOf', 'oneOf', 'allOf', 'additionalProperties'] as const

interface JsonSchema extends Partial<Record<(typeof NESTED)[number], unknown>> {
  title?: unknown
  description?: unknown
  enum?: unknown
  const?: unknown
  properties?: Record<string, unknown>
}
