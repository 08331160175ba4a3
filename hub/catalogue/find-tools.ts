import type { Tool } from '@modelcontextprotocol/client'
import { toPhrases } from '../core/full-text.ts'
import type { FoundTool } from '../core/lean-tools.ts'
import { toIndexedTool } from '../store/indexed-tool.ts'
import { createToolIndex, type ToolIndex } from '../store/sqlite-tool-index.ts'
import { toModelTool } from './model-tool.ts'

/** A tool that can be found: its definition, and its server's name and instructions. */
export interface Findable {
  definition: Tool
  about: string
}

/** Finds tools by words, the best first; `isGiven` tells which may be found. The creator disposes of it. */
export interface ToolFinder extends Disposable {
  find(query: string, limit: number, isGiven: (name: string) => boolean): FoundTool[]
}

/** Returns all tools, `own` first, in the same list for as long as the catalogue is the same. */
export function findableIn(
  servers: { readonly catalogue: { readonly tools: readonly Findable[] } },
  own: readonly Findable[],
): () => readonly Findable[] {
  const lists = new WeakMap<object, readonly Findable[]>()
  return () => {
    const { tools } = servers.catalogue
    const list = lists.get(tools) ?? [...own, ...tools]
    lists.set(tools, list)
    return list
  }
}

/** Creates a finder. `list` returns the same array while nothing changed; the index is built when needed. */
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
    index = createToolIndex(now.map(({ definition, about }) => toIndexedTool(toModelTool(definition), about)))
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
