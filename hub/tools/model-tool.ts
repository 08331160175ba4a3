import type { Tool } from '@modelcontextprotocol/client'
import type { ModelTool } from '../core/model.ts'

/** A server's tool as a model is told of it. */
export function toModelTool(tool: Tool): ModelTool & { readOnly: boolean } {
  const title = tool.title ?? tool.annotations?.title
  return {
    name: tool.name,
    ...(title === undefined ? {} : { title }),
    description: tool.description ?? '',
    inputSchema: tool.inputSchema,
    readOnly: tool.annotations?.readOnlyHint === true,
  }
}
