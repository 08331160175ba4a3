import type { Tool } from '@modelcontextprotocol/client'
import type { ModelTool } from '../core/model.ts'

/** Tells whether a tool only reads by its annotations; one marked destructive too counts as destructive. */
export function isReading({ annotations }: Tool): boolean {
  return annotations?.readOnlyHint === true && annotations.destructiveHint !== true
}

/** Converts a server's tool to the form that a model is shown. */
export function toModelTool(tool: Tool): ModelTool & { readOnly: boolean } {
  const title = tool.title ?? tool.annotations?.title
  return {
    name: tool.name,
    ...(title === undefined ? {} : { title }),
    description: tool.description ?? '',
    inputSchema: tool.inputSchema,
    readOnly: isReading(tool),
  }
}
