import type { Tool } from '@modelcontextprotocol/client'
import type { ModelTool } from '../core/model.ts'

/** Whether it only reads by its annotations: one that calls itself destructive too counts as what is worse. */
export function isReading({ annotations }: Tool): boolean {
  return annotations?.readOnlyHint === true && annotations.destructiveHint !== true
}

/** A server's tool as a model is told of it. */
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
