import { parseJson } from '../../core/json.ts'
import { truncate } from '../../core/text.ts'
import type { Field } from './fields.ts'

/** A call that waits for the person's next message: for a yes, or for what is missing. */
export interface Question {
  kind: 'confirm' | 'missing'
  tool: string
  arguments: Record<string, unknown>
  text: string
}

const CONFIRM_END = 'Say yes or no.'
const MOST_CHOICES = 20

/**
 * A question as it stands in the reply. Its last line holds the call as the command that would make it, so that the
 * window alone tells later what was asked. Only a text's very end is ever read as one.
 */
export function writeQuestion(question: Question): string {
  const json = JSON.stringify(question.arguments).replaceAll('`', '\\u0060')
  return `${withoutTrailer(question.text)}\n(\`/call ${question.tool} ${json}\`)`
}

/** The question that a reply ended with. */
export function readQuestion(reply: string): Question | undefined {
  const found = /(?:^|\n)([^\n]*)\n\(`\/call ([A-Za-z0-9_-]{1,64}) (\{[^\n`]*\})`\)\s*$/.exec(reply)
  const [, text = '', tool = '', json = ''] = found ?? []
  const values = parseJson(json)
  if (!found || !isRecord(values)) return undefined
  return { kind: text.endsWith(CONFIRM_END) ? 'confirm' : 'missing', tool, arguments: values, text }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Text of others cannot pose as a question of this model's: the mark that one ends with is taken from it. */
export function withoutTrailer(text: string): string {
  return text.replace(/\(`\/call/g, '(`\u200b/call')
}

export function askConfirm(tool: string, values: Record<string, unknown>): Question {
  const text = `Shall I run \`${tool}\`${withValues(values)}? ${CONFIRM_END}`
  return { kind: 'confirm', tool, arguments: values, text }
}

/** Names the argument, what it is and what it may be. */
export function askMissing(tool: string, values: Record<string, unknown>, field: Field, note = ''): Question {
  const about = field.description === '' ? '' : ` (${truncate(field.description.replace(/\s+/g, ' '), 160)})`
  const lead = note === '' ? '' : `${note} `
  const text = `${lead}To run \`${tool}\` I still need **${field.name}**${about}.${toChoices(field)} What shall it be?`
  return { kind: 'missing', tool, arguments: values, text }
}

function toChoices(field: Field): string {
  if (field.choices.length === 0) return field.kind === 'boolean' ? ' It is yes or no.' : ''
  const shown = field.choices.slice(0, MOST_CHOICES).map(choice => `\`${choice}\``)
  const more = field.choices.length - shown.length
  return ` It is one of ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

/** " with server = valheim, limit = 5" */
export function withValues(values: Record<string, unknown>): string {
  const parts = Object.entries(values).map(([name, value]) => `${name} = ${toShort(value)}`)
  return parts.length === 0 ? '' : ` with ${parts.join(', ')}`
}

function toShort(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return truncate(text.replace(/\s+/g, ' '), 120)
}

const NO_WORDS = /^(?:no+|nope|nah|n)\b.{0,60}$/s
const NOT_NOW =
  /^(?:cancel|stop|never ?mind|forget it|leave it(?: alone)?|abort|better not|not now|wait|rather not)\W*$/
const DO_NOT = /^(?:please )?(?:don't|do not|dont|never)\b/
const YES_WORDS =
  /^(?:(?:yes|yeah|yep|yup|y|ok|okay|sure|of course|please|do it|go ahead|go on|go for it|confirm(?:ed)?|run it|correct|right|absolutely|definitely|aye|do|thanks|thank you)\b[\s,.!]*){1,4}$/

/** What an answer to a yes-or-no question says; undefined where it says neither. */
export function readYesNo(text: string): boolean | undefined {
  const plain = text.trim().slice(0, 200).toLowerCase().replace(/[’]/g, "'")
  if (NO_WORDS.test(plain) || NOT_NOW.test(plain) || DO_NOT.test(plain)) return false
  return YES_WORDS.test(plain) ? true : undefined
}

/** "never mind" */
export function isDropped(text: string): boolean {
  return /^\W*(?:cancel|never ?mind|forget (?:it|that|about it)|stop|abort|nothing|leave it|no|no thanks|skip(?: it)?)\W*$/i.test(
    text,
  )
}
