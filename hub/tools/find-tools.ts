import type { Tool } from '@modelcontextprotocol/client'
import { toPhrases } from '../core/full-text.ts'
import type { FoundTool } from '../core/lean-tools.ts'
import { createToolIndex, type ToolIndex } from '../store/sqlite-tool-index.ts'
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

/** How many are looked through for those that are given. */
const MOST_LOOKED = 500

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
      const exact = byName.has(query.trim()) ? [query.trim()] : []
      const names = new Set([...exact, ...current.search(toPhrases(query), MOST_LOOKED)])
      return [...names]
        .filter(isGiven)
        .slice(0, limit)
        .flatMap(name => byName.get(name) ?? [])
        .map(toModelTool)
    },
    [Symbol.dispose]() {
      index?.[Symbol.dispose]()
      index = undefined
    },
  }
}

function toIndexed({ definition, about }: Findable) {
  const properties = Object.entries(definition.inputSchema.properties ?? {})
  return {
    name: definition.name,
    title: definition.title ?? definition.annotations?.title ?? '',
    description: definition.description ?? '',
    arguments: properties.map(([name, schema]) => `${name} ${describe(schema)}`).join(' '),
    more: about,
  }
}

function describe(schema: unknown): string {
  if (typeof schema !== 'object' || schema === null) return ''
  const { description, enum: choices } = schema as { description?: unknown; enum?: unknown }
  const words = [description, ...(Array.isArray(choices) ? choices : [])]
  return words.filter(word => typeof word === 'string').join(' ')
}
