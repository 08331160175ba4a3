import type { Tool } from '@modelcontextprotocol/client'
import { CALL_POWER, OWN_CHANNELS, type ToolFacts, UNTRUSTED } from '../../schemas/power.ts'
import { hasWholeText } from '../../schemas/text-readers.ts'
import { matchesGlobs } from '../core/glob.ts'
import { parseJson, withoutNul } from '../core/json.ts'
import {
  CALL_TOOL,
  FIND_TOOLS,
  leanTools,
  MOST_FOUND,
  toFoundText,
  USUALLY_FOUND,
  unwrapCall,
} from '../core/lean-tools.ts'
import type { ModelTool } from '../core/model.ts'
import { givesAnyTool, givesMetaTool, givesTool, type ToolAccess } from '../core/tool-access.ts'
import type { AgentTool, ToolBox } from '../core/tool-box.ts'
import { fitTool, type MetaTool } from '../meta-tools/meta-tool.ts'
import type { Tx } from '../store/writer.ts'
import type { ServerSpec } from '../upstream/server-spec.ts'
import type { CatalogueTool } from './catalogue.ts'
import type { ToolFinder } from './find-tools.ts'
import { fitNulls } from './fit-nulls.ts'
import { declaredClass, isReading, toModelTool } from './model-tool.ts'
import { toFailure, toOutcome } from './outcome.ts'
import { takePictures } from './pictures.ts'
import type { Servers } from './servers.ts'
import type { ToolPins } from './tool-pins.ts'

/** The field of a request's `_meta` that holds the idempotency key of a call. */
export const IDEMPOTENCY_KEY = 'superbloom/idempotencyKey'

/** The most servers' tools of which an agent is told; an agent that has more looks for them instead. */
const LEAN_ABOVE = 60

export type Pins = Pick<ToolPins, 'risenOf' | 'classOf'>

export interface ToolBoxDeps {
  /** Returns globs over tools that are safe to repeat, whatever their annotations say. */
  rerun: () => readonly string[]
  finder: ToolFinder
  /** Tells which tools of other people's servers changed. */
  pins: Pins
}

/** Creates the tools of agents: those of the servers by their globs, and the meta-tools unless taken away. */
export function createToolBox(
  servers: Pick<Servers, 'catalogue' | 'call' | 'specOf' | 'untilListed' | 'whyMissing' | 'settled'>,
  metaTools: readonly MetaTool[],
  { rerun, finder, pins }: ToolBoxDeps,
): ToolBox<Tx> {
  const meta = new Map(metaTools.map(tool => [tool.name, tool]))
  const lists = new WeakMap<ToolAccess, Listed>()
  const look = (access: ToolAccess): Listed => {
    const from = servers.catalogue.tools
    const known = lists.get(access)
    if (known?.from === from) return known
    const listed = {
      from,
      ...decideTold(
        access,
        metaTools,
        from.map(tool => tool.definition),
      ),
    }
    lists.set(access, listed)
    return listed
  }
  return {
    get settled() {
      return servers.settled
    },
    list: (access, whole = false) => (whole ? look(access).whole : look(access).told),
    resolve(call) {
      const meant = call.name === CALL_TOOL ? unwrapCall(parseJson(call.arguments)) : undefined
      return meant ? { name: meant.name, arguments: JSON.stringify(meant.arguments) } : call
    },
    find(name, access) {
      if (name === FIND_TOOLS) return findTool(finder, access)
      if (name === CALL_TOOL) return WRONG_CALL
      const metaTool = meta.get(name)
      if (metaTool)
        return givesMetaTool(access, name)
          ? { kind: 'meta', ends: metaTool.ends, run: fitTool(metaTool, access).run }
          : undefined
      const tool = servers.catalogue.tool(name)
      return tool && givesTool(access, name) ? serverTool(servers, tool, { rerun: rerun(), pins }) : undefined
    },
    whyMissing: (name, access) => (givesTool(access, name) ? servers.whyMissing(name) : undefined),
    untilListed: async (name, signal) => {
      if (!meta.has(name)) await servers.untilListed(name, signal)
    },
  }
}

interface Listed extends Told {
  from: Servers['catalogue']['tools']
}

interface Told {
  whole: ModelTool[]
  told: ModelTool[]
}

/** Returns all tools that an agent is given (`whole`), and those that its model is told of (`told`). */
export function decideTold(access: ToolAccess, metaTools: readonly MetaTool[], tools: readonly Tool[]): Told {
  const own = metaTools
    .filter(tool => givesMetaTool(access, tool.name))
    .map(tool => fromMeta(fitTool(tool, access)))
  const theirs = tools.filter(tool => givesTool(access, tool.name)).map(toModelTool)
  const whole = [...own, ...theirs]
  const told = theirs.length > LEAN_ABOVE ? own : whole
  return { whole, told: givesAnyTool(access) ? [...told, ...leanTools] : told }
}

/** The properties of the tools that find and call others: they only look. */
const LOOKING = {
  reads: true,
  repeatable: true,
  destructive: false,
  samples: false,
  facts: { name: FIND_TOOLS, declared: 'look', trust: 'own', isOwnChannel: false },
} as const

/** Answers a call of `call_tool` that names no tool. */
const WRONG_CALL: AgentTool<Tx> = {
  kind: 'server',
  ...LOOKING,
  call: async () => ({
    text: 'call_tool takes name and arguments: {"name": "pause_downloads", "arguments": {}}. Nothing was called.',
    isError: true,
  }),
}

function findTool(finder: ToolFinder, access: ToolAccess): AgentTool<Tx> {
  return {
    kind: 'server',
    ...LOOKING,
    async call({ query, limit }) {
      if (typeof query !== 'string' || query.trim() === '')
        return { text: 'find_tools: query: say in a few words what to look for', isError: true }
      const most =
        typeof limit === 'number' ? Math.min(Math.max(1, Math.floor(limit)), MOST_FOUND) : USUALLY_FOUND
      const tools = finder.find(query, most, name => givesTool(access, name))
      return { text: toFoundText(query, tools), isError: false, structured: { tools } }
    },
  }
}

function serverTool(
  servers: Pick<Servers, 'call' | 'specOf'>,
  { name, server, definition }: CatalogueTool,
  { rerun, pins }: { rerun: readonly string[]; pins: Pins },
): AgentTool<Tx> {
  const { annotations = {}, inputSchema } = definition
  const { idempotentHint, destructiveHint } = annotations
  const reads = isReading(definition)
  const spec = servers.specOf(server)
  const facts = toFacts(definition, spec, pins)
  const repeatable = reads || idempotentHint === true || matchesGlobs(rerun, name)
  return {
    kind: 'server',
    reads,
    repeatable,
    destructive: destructiveHint !== false && !repeatable,
    facts,
    samples: spec?.sampling === true,
    async call(args, options) {
      try {
        const result = await servers.call(name, fitNulls(args, inputSchema), {
          session: `agent:${options.agent}`,
          signal: options.signal,
          meta: {
            [IDEMPOTENCY_KEY]: options.idempotencyKey,
            [CALL_POWER]: options.power,
            ...options.trace,
          },
          ...(options.requester ? { requester: options.requester } : {}),
          onProgress: progress => {
            if (progress.message) options.onProgress(progress.message)
          },
        })
        const images = await takePictures(result)
        const outcome = withoutNul(toOutcome(result, hasWholeText(definition)))
        const isForeign = facts.trust === 'third' || result._meta?.[UNTRUSTED] === true
        return {
          ...outcome,
          ...(images.length === 0 ? {} : { images }),
          ...(isForeign ? { foreign: true as const } : {}),
        }
      } catch (error) {
        if (options.signal.aborted) throw error
        return toFailure(name, error)
      }
    },
  }
}

/** Returns what the policy knows of a tool; a server that does not run counts as anybody's. */
export function toFacts(
  tool: CatalogueTool['definition'],
  spec: ServerSpec | undefined,
  pins: Pins,
): ToolFacts {
  const trust = spec?.trust ?? 'third'
  const risen = trust === 'third' ? pins.risenOf(tool) : undefined
  return {
    name: tool.name,
    declared: trust === 'third' ? pins.classOf(tool) : declaredClass(tool, trust),
    trust,
    isOwnChannel: trust === 'own' && tool._meta?.[OWN_CHANNELS] === true,
    ...(risen === undefined ? {} : { risen }),
  }
}

function fromMeta(tool: MetaTool): ModelTool {
  const { name, title, description, inputSchema, readOnly } = tool
  return { name, title, description, inputSchema, readOnly, isMeta: true }
}
