import { createHash } from 'node:crypto'
import type { Tool } from '@modelcontextprotocol/server'

export interface ListChangesDeps {
  tools: () => readonly Tool[]
  toolsets: () => readonly string[]
  gives: (toolset: string, name: string) => boolean
}

/** Finds the tool lists that changed since the last look: toolsets by name, undefined for the whole. */
export function createListChanges({ tools, toolsets, gives }: ListChangesDeps) {
  const read = () => {
    const all = tools().map(tool => ({ name: tool.name, text: JSON.stringify(tool) }))
    const digest = (toolset: string | undefined) => {
      const hash = createHash('sha256')
      for (const { name, text } of all) if (toolset === undefined || gives(toolset, name)) hash.update(text)
      return hash.digest('hex')
    }
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
