import { createHash } from 'node:crypto'
import type { Tool } from '@modelcontextprotocol/server'

export interface ListChangesDeps {
  tools: () => readonly Tool[]
  /** The names of the configured sets of tools. */
  toolsets: () => readonly string[]
  /** Whether a toolset has a tool. */
  gives: (toolset: string, name: string) => boolean
}

const digests = new WeakMap<Tool, string>()

/** Equal for tools that read alike; each is written once, for a change of one server leaves the others' as they are. */
function digestOf(tool: Tool): string {
  const known = digests.get(tool)
  if (known !== undefined) return known
  const digest = createHash('sha256').update(JSON.stringify(tool)).digest('base64')
  digests.set(tool, digest)
  return digest
}

/** Which lists of tools are others than at the last look: toolsets by name, undefined for the whole. */
export function createListChanges({ tools, toolsets, gives }: ListChangesDeps) {
  const read = () => {
    const all = tools().map(tool => ({ name: tool.name, digest: digestOf(tool) }))
    const sign = (toolset: string | undefined) => {
      const hash = createHash('sha256')
      for (const { name, digest } of all)
        if (toolset === undefined || gives(toolset, name)) hash.update(digest)
      return hash.digest('hex')
    }
    return new Map([undefined, ...toolsets()].map(toolset => [toolset, sign(toolset)]))
  }
  let known = read()
  return {
    /** A set that was removed has changed, one that is new has not: nobody knows its list. */
    look(): ReadonlySet<string | undefined> {
      const before = known
      known = read()
      return new Set([...before].flatMap(([set, text]) => (known.get(set) === text ? [] : [set])))
    },
  }
}
