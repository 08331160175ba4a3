import { hash } from 'node:crypto'
import type { Tool } from '@modelcontextprotocol/server'

interface ListChangesDeps {
  tools: () => readonly Tool[]
  toolsets: () => readonly string[]
  gives: (toolset: string, name: string) => boolean
}

/** Finds the tool lists that changed since the last look: toolsets by name, undefined for the whole. */
export function createListChanges({ tools, toolsets, gives }: ListChangesDeps) {
  const read = () => {
    const all = tools()
    const digest = (toolset: string | undefined) =>
      hash('sha256', JSON.stringify(all.filter(({ name }) => toolset === undefined || gives(toolset, name))))
    return new Map([undefined, ...toolsets()].map(toolset => [toolset, digest(toolset)]))
  }
  let known = read()
  return {
    /** Returns the changed lists. A removed toolset has changed; a new one has not: nobody knows its list. */
    look(): ReadonlySet<string | undefined> {
      const before = known
      known = read()
      return new Set([...before].flatMap(([set, text]) => (known.get(set) === text ? [] : [set])))
    },
  }
}
