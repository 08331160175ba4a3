import { parseJson } from '../../core/json.ts'
import { plural, truncate } from '../../core/text.ts'
import { toReadable } from './readable.ts'

/** A call of this model with what came back. */
export interface Outcome {
  name: string
  /** As the model asked for it. */
  arguments: Record<string, unknown>
  text: string
  isError: boolean
  structured?: unknown
}

const MOST_LINES = 60
const MOST_CHARACTERS = 3500
const LONGEST_ERROR = 700

/** A tool's result in words for a person: its own text where that is one, else its data as lines. */
export function wordResult(outcome: Outcome, timezone: string): string {
  const waiting = /^\s*waiting: approval (\S+)/i.exec(outcome.text)
  if (waiting) {
    return `\`${outcome.name}\` waits for a person's yes (approval ${waiting[1]}). It runs once that is given.`
  }
  if (outcome.isError) return wordError(outcome)
  return shorten(toBody(outcome, timezone))
}

function toBody(outcome: Outcome, timezone: string): string {
  const text = outcome.text.trim()
  const data = /^[[{]/.test(text) ? parseJson(text) : undefined
  if (data !== undefined) return toReadable(data, timezone)
  if (text !== '') return text
  if (outcome.structured !== undefined && outcome.structured !== null)
    return toReadable(outcome.structured, timezone)
  return `Done: \`${outcome.name}\` ran and had nothing to say.`
}

/** At most so many lines and characters; says how much was left out. */
export function shorten(text: string, characters = MOST_CHARACTERS): string {
  const lines = text.split('\n')
  const fewer = lines.slice(0, MOST_LINES).join('\n')
  const more = lines.length - MOST_LINES
  return more > 0
    ? `${truncate(fewer, characters)}\n… and ${plural(more, 'more line')}`
    : truncate(fewer, characters)
}

const ADVICE: [RegExp, string][] = [
  [/outcome (?:is )?unknown|verify before/i, 'Look whether it took effect before you ask for it again.'],
  [/denied|not allowed|forbidden|policy|budget/i, 'The owner decides what may run; I left it there.'],
  [
    /invalid|argument|required|must be|expected|schema/i,
    '`/tools {name}` shows what it takes; `/call {name} {…}` gives it exactly that.',
  ],
  [/not configured|lacks|missing setting|no such setting/i, 'Once that is set up, ask me again.'],
  [
    /time[d ]? ?out|timeout|refused|unreachable|unavailable|ECONN|ENOTFOUND|EHOST|\bdown\b|\bclosed\b/i,
    'It may be down or busy; try again in a moment.',
  ],
  [/not found|unknown|no such|does not exist/i, 'Check the name; `/tools {name}` shows what it takes.'],
]

function wordError(outcome: Outcome): string {
  const text = withoutName(outcome)
  const said = /^[[{]/.test(text) && parseJson(text) !== undefined ? toReadable(parseJson(text), 'UTC') : text
  const advice =
    ADVICE.find(([sign]) => sign.test(text))?.[1] ?? 'Try again in a moment; /tools lists what else there is.'
  const what = said === '' ? 'it gave no reason.' : truncate(said, LONGEST_ERROR)
  return `Sorry, \`${outcome.name}\` did not work: ${what}${/[.!?…)]$/.test(what) ? '' : '.'} ${advice.replaceAll('{name}', outcome.name)}`
}

/** "get_x failed: why" and "get_x: why" → "why": the name is said already. */
function withoutName({ name, text }: Outcome): string {
  const trimmed = text.trim()
  return trimmed.startsWith(name) ? trimmed.slice(name.length).replace(/^(?: failed)?:\s*/, '') : trimmed
}
