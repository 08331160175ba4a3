import type { CallToolResult } from '@modelcontextprotocol/client'
import { stripControl, truncate } from '../core/text.ts'
import type { ToolOutcome } from '../core/tool-box.ts'

/** The most characters of a result that an agent's window takes in. */
const LONGEST_RESULT = 60_000

/** A server's result as a model reads it: its texts, and in words what is not text. */
export function toOutcome(result: CallToolResult): ToolOutcome {
  const text = (result.content ?? []).map(toText).filter(Boolean).join('\n')
  const structured = result.structuredContent
  const whole = text || (structured === undefined ? '(no output)' : JSON.stringify(structured))
  return {
    text: truncate(stripControl(whole), LONGEST_RESULT),
    isError: result.isError === true,
    ...(structured === undefined || JSON.stringify(structured).length > LONGEST_RESULT ? {} : { structured }),
  }
}

function toText(block: CallToolResult['content'][number]): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type} ${block.mimeType}, ${Math.round((block.data.length * 3) / 4096)} KB]`
    case 'resource_link':
      return `[${block.title ?? block.name}: ${block.uri}]`
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[resource ${block.resource.uri}]`
    default:
      return `[${JSON.stringify(block satisfies never)}]`
  }
}
