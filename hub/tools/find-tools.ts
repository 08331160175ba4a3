import type { Tool } from '@modelcontextprotocol/client'
import { toPhrases } from '../core/full-text.ts'
import type { FoundTool } from '../core/lean-tools.ts'
import { createToolIndex, splitHumps, type ToolIndex } from '../store/sqlite-tool-index.ts'
import { toModelTool } from './model-tool.ts'

/** A tool to be found: its definition, and what its server says of itself. */
export interface Findable {
  definition: Tool
  about: string
}

/** Looks for tools by words, the best first; `isGiven` says which may be found. Dispose of it. */
export interface ToolFinder extends Disposable {
  find(query: string, limit: number, isGiven: (name: string) => boolean): FoundTool[]
}

/** How much of a tool's arguments is indexed, characters, and how deep their schemas are looked into. */
const MOST_ARGUMENTS = 4_000
const DEEPEST = 6

/** `list` gives the same array as long as nothing changed; what is indexed is built at the first question. */
export function createToolFinder(list: () => readonly Findable[]): ToolFinder {
  let from: readonly Findable[] = []
  let index: ToolIndex | undefined
  let byName = new Map<string, Tool>()
  const refresh = () => {
    const now = list()
    if (index && now === from) return index
    index?.[Symbol.dispose]()
    from = now
    byName = new Map(now.map(({ definition }) => [definition.name, definition]))
    index = createToolIndex(now.map(toIndexed))
    return index
  }
  return {
    find(query, limit, isGiven) {
      const current = refresh()
      const exact = query.trim()
      const names = new Set(byName.has(exact) && isGiven(exact) ? [exact] : [])
      for (const name of current.search(toPhrases(query))) {
        if (names.size >= limit) break
        if (isGiven(name)) names.add(name)
      }
      return [...names].flatMap(name => byName.get(name) ?? []).map(toModelTool)
    },
    [Symbol.dispose]() {
      index?.[Symbol.dispose]()
      index = undefined
    },
  }
}

function toIndexed({ definition, about }: Findable) {
  return {
    name: definition.name,
    words: inWords(definition.name),
    title: definition.title ?? definition.annotations?.title ?? '',
    description: definition.description ?? '',
    arguments: describe(definition.inputSchema, DEEPEST).join(' ').slice(0, MOST_ARGUMENTS),
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
