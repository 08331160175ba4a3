import { z } from 'zod'
import { parseJson } from '../../core/json.ts'
import type { ModelMessage, ModelRequest, ModelTool } from '../../core/model.ts'
import { type Field, readFields } from './fields.ts'

export interface KnownTool {
  name: string
  title: string
  description: string
  fields: Field[]
  readOnly: boolean
  /** Found by `find_tools`: it is called through `call_tool`. */
  found: boolean
}

export interface Catalogue {
  /** What a sentence may be matched with. */
  tools: KnownTool[]
  /** Everything that can be called by its name, the meta-tools too. */
  callable: KnownTool[]
  /** The tools are behind `find_tools` and `call_tool`. */
  lean: boolean
}

export const LEAN_TOOLS = ['find_tools', 'call_tool']

/** Meta-tools that a sentence may be matched with; the others have phrases of their own or take a model's judgement. */
const OPEN_META_TOOLS = ['list_tasks', 'search_history', 'read_messages']
const META_TOOLS = [
  'schedule_wake',
  'schedule_cron',
  'list_schedules',
  'cancel_schedule',
  'complete_task',
  'store_context',
  'get_context',
  'create_task',
  'cancel_task',
  'send_message',
]

/** Tools whose call ends the cycle after its step. */
export const ENDING_TOOLS = ['schedule_wake', 'complete_task']

export function isMetaTool(name: string): boolean {
  return META_TOOLS.includes(name) || OPEN_META_TOOLS.includes(name)
}

/** What can be called, the tools that `find_tools` brought into the window among them. */
export function readCatalogue(request: Pick<ModelRequest, 'tools' | 'messages'>): Catalogue {
  const lean = LEAN_TOOLS.every(name => request.tools.some(tool => tool.name === name))
  const direct = request.tools.map(tool => toKnown(tool, false))
  const names = new Set(direct.map(tool => tool.name))
  const found = lean ? readFound(request.messages).filter(tool => !names.has(tool.name)) : []
  const callable = [...direct, ...new Map(found.map(tool => [tool.name, tool])).values()]
  const closed = [...META_TOOLS, ...LEAN_TOOLS]
  return { tools: callable.filter(tool => !closed.includes(tool.name)), callable, lean }
}

export function findTool(catalogue: Catalogue, name: string): KnownTool | undefined {
  return catalogue.callable.find(tool => tool.name === name)
}

/** A tool behind `find_tools` of which only the name is known. */
export function hiddenTool(name: string): KnownTool {
  return { name, title: '', description: '', fields: [], readOnly: false, found: true }
}

function toKnown(tool: ModelTool, found: boolean): KnownTool {
  return {
    name: tool.name,
    title: tool.title ?? '',
    description: tool.description,
    fields: readFields(tool.inputSchema),
    readOnly: tool.readOnly ?? OPEN_META_TOOLS.includes(tool.name),
    found,
  }
}

const listedTool = z.looseObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  title: z.string().optional().catch(undefined),
  description: z.string().catch(''),
  inputSchema: z.record(z.string(), z.unknown()).catch({}),
  readOnly: z.boolean().optional().catch(undefined),
  annotations: z.looseObject({ readOnlyHint: z.boolean().optional() }).optional().catch(undefined),
})
const listedTools = z.union([z.array(z.unknown()), z.looseObject({ tools: z.array(z.unknown()) })])

function readFound(messages: ModelMessage[]): KnownTool[] {
  return messages
    .filter(message => message.role === 'tool')
    .filter(message => message.name === 'find_tools' && !message.isError)
    .flatMap(message => toListed(message.structured) ?? toListed(parseJson(message.text)) ?? [])
}

function toListed(value: unknown): KnownTool[] | undefined {
  const list = listedTools.safeParse(value)
  if (!list.success) return undefined
  const entries = Array.isArray(list.data) ? list.data : list.data.tools
  return entries.flatMap(entry => {
    const tool = listedTool.safeParse(entry)
    if (!tool.success) return []
    const readOnly = tool.data.readOnly ?? tool.data.annotations?.readOnlyHint ?? false
    const { name, title, description, inputSchema } = tool.data
    return [toKnown({ name, title: title ?? '', description, inputSchema, readOnly }, true)]
  })
}
