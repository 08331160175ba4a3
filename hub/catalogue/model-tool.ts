import type { Tool } from '@modelcontextprotocol/client'
import type { ToolClass } from '../../schemas/power.ts'
import type { ModelTool } from '../core/model.ts'
import { truncate } from '../core/text.ts'

/** The most characters of a description that a model is shown. */
const LONGEST_DESCRIPTION = 4_000

/** Tells whether a tool only reads by its annotations; one marked destructive too counts as destructive. */
export function isReading({ annotations }: Tool): boolean {
  return annotations?.readOnlyHint === true && annotations.destructiveHint !== true
}

/** Words in names of tools that reach people or places outside: of the operator's own servers, and of others. */
const OWN_SENDING = /(?:^|_)(?:send|e?mail|notify)(?:_|$)/i
const SENDING =
  /(?:^|_)(?:send|e?mail|post|publish|tweet|notify|reply|invite|share|upload|comment|dm|sms|message|request|webhook)(?:_|$)/i

/** Returns the class that a server declares for a tool. */
export function declaredClass(tool: Tool, trust: 'own' | 'third'): ToolClass {
  const { destructiveHint, openWorldHint } = tool.annotations ?? {}
  if (isReading(tool)) return 'look'
  if (destructiveHint === true) return 'destroy'
  const words = tool.name.replace(/([a-z\d])([A-Z])|-/g, '$1_$2')
  const isSending = trust === 'own' ? OWN_SENDING.test(words) : openWorldHint === true || SENDING.test(words)
  return isSending ? 'send' : 'change'
}

/** Converts a server's tool to the form that a model is shown. */
export function toModelTool(tool: Tool): ModelTool & { readOnly: boolean } {
  const title = tool.title ?? tool.annotations?.title
  return {
    name: tool.name,
    ...(title === undefined ? {} : { title }),
    description: truncate(tool.description ?? '', LONGEST_DESCRIPTION),
    inputSchema: tool.inputSchema,
    readOnly: isReading(tool),
  }
}
