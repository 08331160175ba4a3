import { isDeepStrictEqual } from 'node:util'
import type { ModelTool } from '../core/model.ts'
import type { ToolAccess } from '../core/tool-access.ts'
import type { ToolBox } from '../core/tool-box.ts'

/** Threads that keep their list, those that ran last: more would be memory for threads that sleep. */
const MOST_THREADS = 32

/**
 * The tools that each thread's model is told of. They precede the window in every request, so a list stays
 * the same, byte for byte, until the window itself changes: otherwise each server that comes or goes would
 * cost the provider's prompt cache. A tool that came since is found by `find_tools` and runs through
 * `call_tool`; a call of a tool that went says so.
 */
export interface ToolLists {
  /**
   * Returns the thread's list, a new one if the agent's file gives other tools. A model that takes the
   * `whole` list costs nothing, and does not look for tools: it is always told of those that there are.
   */
  of(thread: string, access: ToolAccess, whole: boolean): ModelTool[]
  /** Drops the list, as the thread's window changes: the next request tells of the tools that there are. */
  renew(thread: string): void
}

interface Told {
  access: ToolAccess
  tools: ModelTool[]
}

export function createToolLists(toolBox: Pick<ToolBox<never>, 'list' | 'settled'>): ToolLists {
  const told = new Map<string, Told>()
  return {
    of(thread, access, whole) {
      if (whole) return toolBox.list(access, whole)
      const known = told.get(thread)
      const isSame = known !== undefined && isDeepStrictEqual(known.access, access)
      const tools = isSame ? known.tools : toolBox.list(access)
      told.delete(thread)
      // The list is not kept while a server still starts: it lacks that server's tools.
      if (!isSame && !toolBox.settled) return tools
      told.set(thread, { access, tools })
      for (const oldest of told.keys()) {
        if (told.size <= MOST_THREADS) break
        told.delete(oldest)
      }
      return tools
    },
    renew: thread => void told.delete(thread),
  }
}
