import { parseJson } from '../../core/json.ts'
import type { ModelTool } from '../../core/model.ts'
import { plural, toSentence, truncate } from '../../core/text.ts'
import type { FoundModels } from '../find-models.ts'
import type { Outcome } from './cycle.ts'

/** Everything that an answer depends on, besides the message. */
export interface Scene {
  tools: readonly ModelTool[]
  now: number
  timezone: string
  /** Model servers and keys of this machine; set where a message asks for them. */
  models?: FoundModels | undefined
}

/** The next step for an item. An `end` call ends the cycle; its text goes out only if the call succeeds. */
export type Plan =
  | { kind: 'say'; text: string }
  | { kind: 'call'; name: string; arguments: Record<string, unknown>; ask?: true }
  | { kind: 'end'; name: string; arguments: Record<string, unknown>; text: string }

export function say(text: string): Plan {
  return { kind: 'say', text }
}

/** Plans a call. It runs at once where it only reads; otherwise it waits for a person's yes. */
export function planCall({ name, readOnly, isMeta }: ModelTool, args: Record<string, unknown>): Plan {
  const call = { kind: 'call' as const, name, arguments: args }
  return readOnly || isMeta ? call : { ...call, ask: true }
}

const MOST_LINES = 60
const MOST_CHARACTERS = 3500

/** Describes the result of a call, as the tool said it. */
export function wordOutcome({ name, text, isError, structured }: Outcome): string {
  const approval = /^\s*waiting: approval (\S+)/.exec(text)?.[1]
  if (approval)
    return `Nothing has run yet: the call of \`${name}\` waits for a person's yes (approval ${approval}).`
  const said = text.trim() || (structured === undefined ? '' : JSON.stringify(structured, null, 1))
  if (isError)
    return `\`${name}\` failed: ${toSentence(truncate(said, MOST_CHARACTERS) || 'it gave no reason')}`
  return said === '' ? `\`${name}\` ran and had nothing to say.` : `\`${name}\` says:\n\n${shorten(said)}`
}

/** Cuts a text. It writes JSON of one line on several. */
function shorten(text: string): string {
  const data = /^[[{]/.test(text) && !text.includes('\n') ? parseJson(text) : undefined
  const plain = data === undefined ? text : `\`\`\`json\n${JSON.stringify(data, null, 1)}\n\`\`\``
  const lines = plain.split('\n')
  const more = lines.length - MOST_LINES
  const cut = truncate(lines.slice(0, MOST_LINES).join('\n'), MOST_CHARACTERS)
  return more > 0 ? `${cut}\n… and ${plural(more, 'more line')}` : cut
}

const LONGEST_LINE = 110

export function toToolLine({ name, title = '', description, readOnly, isMeta }: ModelTool): string {
  const first = (description.split(/(?<=[.!?])\s/)[0] || title).replace(/\s+/g, ' ').trim()
  const what = first.length <= LONGEST_LINE ? first : `${first.slice(0, LONGEST_LINE - 1)}…`
  return `- \`${name}\`${readOnly || isMeta ? '' : ' (asks first)'}: ${what}`
}

export function toCallText(name: string, args: Record<string, unknown>): string {
  return `\`/call ${name} ${JSON.stringify(args)}\``
}
