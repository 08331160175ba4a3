import type { Tool } from '@modelcontextprotocol/client'
import { describeError } from '../core/errors.ts'
import { matchesGlobs } from '../core/glob.ts'
import type { ModelTool } from '../core/model.ts'
import { givesMetaTool, givesTool, type ToolAccess } from '../core/tool-access.ts'
import type { AgentTool, ToolBox } from '../core/tool-box.ts'
import type { Tx } from '../store/writer.ts'
import type { MetaTool } from './meta-tools/meta-tool.ts'
import { toOutcome } from './outcome.ts'
import type { Servers } from './servers.ts'

/** Where the idempotency key of a call stands in its request's `_meta`. */
const IDEMPOTENCY_KEY = 'superbloom/idempotencyKey'

/** What the operator's config says about tools. */
export interface ToolPolicy {
  /** Globs over tools that are safe to repeat, whatever their annotations say. */
  readonly rerun: readonly string[]
}

/** Everything that agents can call: the servers' tools that their globs give, and the meta-tools unless taken away. */
export function createToolBox(
  servers: Servers,
  metaTools: readonly MetaTool[],
  policy: ToolPolicy,
): ToolBox<Tx> {
  const meta = new Map(metaTools.map(tool => [tool.name, tool]))
  const lists = new WeakMap<ToolAccess, { from: Servers['catalogue']; list: ModelTool[] }>()
  return {
    list(access) {
      const from = servers.catalogue
      const known = lists.get(access)
      if (known?.from === from) return known.list
      const own = metaTools.filter(tool => givesMetaTool(access, tool.name)).map(fromMeta)
      const theirs = from.filter(tool => givesTool(access, tool.name))
      const list = [...own, ...theirs.map(tool => fromServer(tool.definition))]
      lists.set(access, { from, list })
      return list
    },
    find(name, access) {
      const metaTool = meta.get(name)
      if (metaTool)
        return givesMetaTool(access, name)
          ? { kind: 'meta', ends: metaTool.ends, run: metaTool.run }
          : undefined
      const tool = servers.find(name)
      return tool && givesTool(access, name)
        ? serverTool(servers, tool.name, tool.definition, policy)
        : undefined
    },
    untilListed: async (name, signal) => {
      if (!meta.has(name)) await servers.untilListed(name, signal)
    },
  }
}

function serverTool(
  servers: Servers,
  name: string,
  { annotations = {} }: Tool,
  { rerun }: ToolPolicy,
): AgentTool<Tx> {
  const { readOnlyHint, idempotentHint, destructiveHint } = annotations
  const repeatable = readOnlyHint === true || idempotentHint === true || matchesGlobs(rerun, name)
  return {
    kind: 'server',
    reads: readOnlyHint === true,
    repeatable,
    destructive: destructiveHint !== false && !repeatable,
    async call(args, options) {
      try {
        const result = await servers.call(name, args, {
          signal: options.signal,
          meta: { [IDEMPOTENCY_KEY]: options.idempotencyKey },
          onProgress: progress => {
            if (progress.message) options.onProgress(progress.message)
          },
        })
        return toOutcome(result)
      } catch (error) {
        if (options.signal.aborted) throw error
        return { text: `${name} failed: ${describeError(error)}`, isError: true }
      }
    },
  }
}

function fromMeta(tool: MetaTool): ModelTool {
  const { name, title, description, inputSchema, readOnly } = tool
  return { name, title, description, inputSchema, readOnly }
}

function fromServer(tool: Tool): ModelTool {
  const title = tool.title ?? tool.annotations?.title
  return {
    name: tool.name,
    description: tool.description ?? '',
    inputSchema: tool.inputSchema,
    readOnly: tool.annotations?.readOnlyHint === true,
    ...(title === undefined ? {} : { title }),
  }
}
