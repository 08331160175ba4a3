import { parseJson } from './json.ts'
import type { ModelTool } from './model.ts'

export const FIND_TOOLS = 'find_tools'
export const CALL_TOOL = 'call_tool'
export const MOST_FOUND = 25
export const USUALLY_FOUND = 8

/**
 * Tools that replace a long catalogue: one finds a tool, one calls it. Their descriptions never change, so
 * that a client which reads the list once never misses anything.
 */
export const leanTools: readonly ModelTool[] = [
  {
    name: FIND_TOOLS,
    title: 'Find tools',
    description:
      'Looks for tools by what they do, also for those that are not listed here: there may be many, of whatever is connected, and new ones. Gives names, descriptions and arguments; call_tool calls what you found.',
    inputSchema: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          description: 'a few words: "pause downloads"',
        },
        limit: { type: 'integer', maximum: MOST_FOUND, default: USUALLY_FOUND },
      },
      required: ['query'],
    },
    readOnly: true,
  },
  {
    name: CALL_TOOL,
    title: 'Call a tool',
    description: 'Calls a tool that find_tools found. The result is the tool’s own.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        arguments: { type: 'object', additionalProperties: true },
      },
      required: ['name'],
    },
  },
]

export type FoundTool = ModelTool & { readOnly: boolean }

/** Returns the tool and arguments that a `call_tool` names; undefined where its own arguments do not say. */
export function unwrapCall(args: unknown): { name: string; arguments: Record<string, unknown> } | undefined {
  if (typeof args !== 'object' || args === null) return undefined
  const { name, arguments: inner } = args as { name?: unknown; arguments?: unknown }
  if (typeof name !== 'string' || name === '') return undefined
  // Some models encode the inner arguments as a JSON text once more.
  const value = typeof inner === 'string' ? parseJson(inner) : (inner ?? {})
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? { name, arguments: value as Record<string, unknown> } : undefined
}

export function toFoundText(query: string, found: readonly FoundTool[]): string {
  if (found.length === 0) {
    return `No tool fits "${query}". Try other words: what it acts on (downloads, server, disk), or what it does (list, stop, send).`
  }
  return found
    .map(tool => `${tool.name}: ${tool.description}\narguments: ${JSON.stringify(tool.inputSchema)}`)
    .join('\n\n')
}
