import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import { type FoundTool, leanTools, MOST_FOUND, toFoundText, USUALLY_FOUND } from '../core/lean-tools.ts'

const foundSchema = {
  type: 'object' as const,
  properties: {
    tools: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          title: { type: 'string' },
          description: { type: 'string' },
          inputSchema: { type: 'object' },
          readOnly: { type: 'boolean' },
        },
        required: ['name', 'description', 'inputSchema', 'readOnly'],
      },
    },
  },
  required: ['tools'],
}

/** The two tools as a client lists them. */
export const leanDefinitions: readonly Tool[] = leanTools.map(tool => ({
  name: tool.name,
  title: tool.title ?? tool.name,
  description: tool.description,
  inputSchema: tool.inputSchema as Tool['inputSchema'],
  ...(tool.readOnly ? { outputSchema: foundSchema } : {}),
  annotations: tool.readOnly
    ? { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
    : { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
}))

export function findTools(
  args: Record<string, unknown>,
  find: (query: string, limit: number) => FoundTool[],
): CallToolResult {
  const { query, limit = USUALLY_FOUND } = args
  if (typeof query !== 'string' || query.trim() === '') {
    return fail('find_tools: query: say in a few words what to look for.')
  }
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MOST_FOUND) {
    return fail(`find_tools: limit: must be a whole number from 1 to ${MOST_FOUND}.`)
  }
  const tools = find(query, limit)
  return { content: [{ type: 'text', text: toFoundText(query, tools) }], structuredContent: { tools } }
}

export function fail(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}
