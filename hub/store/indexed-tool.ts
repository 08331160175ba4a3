import { type IndexedTool, splitHumps } from './sqlite-tool-index.ts'

/** How much of a tool's arguments is indexed, characters, and how deep their schemas are looked into. */
const MOST_ARGUMENTS = 4_000
const DEEPEST = 6

/** What the search over tools reads of one; `about` is what its server says of itself. */
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

/** A name as it is, and where it has humps as words too. */
function inWords(name: string): string {
  const words = splitHumps(name)
  return words === name ? name : `${name} ${words}`
}

/** What a schema says in words: the names of what it holds, descriptions, and the values to choose from. */
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
