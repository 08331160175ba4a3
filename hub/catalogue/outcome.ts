import { isDeepStrictEqual } from 'node:util'
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client'
import { describeError } from '../core/errors.ts'
import { isObject } from '../core/forwarding.ts'
import { parseJson } from '../core/json.ts'
import { stripControl, truncate } from '../core/text.ts'
import type { ToolOutcome } from '../core/tool-box.ts'

/** The most characters of a result that an agent's context window gets. */
const LONGEST_RESULT = 60_000
/** The most characters of a page's URL, and of the server's reason for it. */
const LONGEST_ADDRESS = 4_000
const LONGEST_REASON = 1_000

/**
 * Converts a server's result to what a model reads: its texts, and in words what is not text. `isWhole` says
 * that the text says everything; for other results `decideShown` picks what is shorter and lacks nothing.
 */
export function toOutcome(result: CallToolResult, isWhole = false): ToolOutcome {
  const text = (result.content ?? []).map(toText).filter(Boolean).join('\n')
  const structured = result.structuredContent ?? undefined
  const shown = isWhole ? text : decideShown(text, structured)
  return {
    text: truncate(stripControl(shown || '(no output)'), LONGEST_RESULT),
    isError: result.isError === true,
    ...(structured === undefined || JSON.stringify(structured).length > LONGEST_RESULT ? {} : { structured }),
  }
}

/**
 * Decides what a model reads of a result's text and data. The protocol wants the data in the text too, and
 * many servers write it there with indentation; others put it beside a mere headline ("4 items"). A text that
 * shows most of the data is a rendering of it, made to be read; any other is followed by the data.
 */
export function decideShown(text: string, structured: unknown): string {
  if (structured === undefined || structured === null) return text
  const json = JSON.stringify(structured)
  if (text === '' || isDeepStrictEqual(parseJson(text), structured)) return json
  const leaves = leavesOf(structured)
  const shown = leaves.filter(leaf => text.includes(leaf))
  return shown.length * 2 >= leaves.length ? text : `${text}\n${json}`
}

/** Returns every text and number of some data. Booleans are left out, because a text says them in words. */
function leavesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value.trim()]
  if (typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

/** Returns what an agent reads of a failed call: the pages that a person has to open first, or the error. */
export function toFailure(name: string, error: unknown): ToolOutcome {
  const pages = pagesToOpen(error)
  const text =
    pages.length > 0
      ? `${name} did nothing: a person has to open ${pages.length > 1 ? 'these pages' : 'this page'} in a browser first.\n${pages.join('\n')}\nGive them the address unchanged, and call ${name} again once they say that it is done.`
      : `${name} failed: ${describeError(error)}`
  return { text, isError: true }
}

function pagesToOpen(error: unknown): string[] {
  if (!(error instanceof ProtocolError) || error.code !== ProtocolErrorCode.UrlElicitationRequired) return []
  const { elicitations } = isObject(error.data) ? error.data : {}
  return (Array.isArray(elicitations) ? elicitations : []).flatMap(one => {
    const { url, message } = isObject(one) ? one : {}
    const page = typeof url === 'string' && url.length <= LONGEST_ADDRESS ? URL.parse(url) : null
    if (page?.protocol !== 'https:' && page?.protocol !== 'http:') return []
    const why = typeof message === 'string' ? ` (${truncate(stripControl(message), LONGEST_REASON)})` : ''
    return [`${page.href}${why}`]
  })
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
