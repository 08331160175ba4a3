import type { HistoryContent } from '../../schemas/inbox.ts'
import { isBlank } from '../core/text.ts'
import type { HistoryEntry } from '../store/history.ts'
import { estimateTokens } from './tokens.ts'

/** The headings of every summary, in their order. */
export const HEADINGS = [
  'Goal',
  'Constraints and preferences',
  'Open asks',
  'State of the infrastructure',
  'Done',
  'Identifiers',
  'Where to look things up',
] as const
export type Heading = (typeof HEADINGS)[number]

/** A summary as its sections, each a list of lines without their bullet. */
export type Sections = Record<Heading, string[]>

export function emptySections(): Sections {
  return Object.fromEntries(HEADINGS.map(heading => [heading, [] as string[]])) as Sections
}

/** Reads a summary's sections; undefined if a heading is missing. */
export function parseSummary(text: string): Sections | undefined {
  const sections = emptySections()
  const seen = new Set<Heading>()
  let current: Heading | undefined
  for (const line of text.split('\n')) {
    const title = /^#{1,4}\s*(.+?)\s*:?\s*$/.exec(line)?.[1]?.toLowerCase()
    const heading = title && HEADINGS.find(each => title.startsWith(each.toLowerCase()))
    if (heading) {
      current = heading
      seen.add(heading)
    } else if (current && line.trim() !== '') {
      sections[current].push(line.replace(/^\s*[-*]\s+/, '').trim())
    }
  }
  return seen.size === HEADINGS.length ? sections : undefined
}

export function printSummary(sections: Sections): string {
  return HEADINGS.map(heading => {
    const lines = sections[heading]
    const body = lines.length === 0 ? '- none' : lines.map(line => `- ${line}`).join('\n')
    return `## ${heading}\n${body}`
  }).join('\n\n')
}

/** Returns the texts of people's messages in some entries, oldest first. */
export function wordsOfPeople(entries: readonly HistoryEntry[]): string[] {
  return entries.flatMap(({ content }) =>
    content.role === 'user'
      ? content.items.flatMap(item => (item.kind === 'message' ? [item.text] : []))
      : [],
  )
}

/** Words with which people set limits and wishes, in English and German: a help, not a promise. */
const LIMITING =
  /\b(?:never|always|don'?t|do not|must(?:n'?t)?|only|unless|except|prefer\w*|avoid|keep in mind|remember|not (?:on|before|after|during)|nie(?:mals)?|immer|nur|nicht|kein\w*|bitte)\b/i
const LONGEST_SENTENCE = 300

/** Returns the sentences in which people set limits and wishes, verbatim. */
export function findConstraints(entries: readonly HistoryEntry[]): string[] {
  const sentences = wordsOfPeople(entries).flatMap(text =>
    text
      .split(/(?<=[.!?])\s+|\n+/)
      .map(sentence => sentence.trim())
      .filter(sentence => sentence.length <= LONGEST_SENTENCE && LIMITING.test(sentence)),
  )
  return [...new Set(sentences)]
}

const IDENTIFIER = /[\p{L}\p{N}][\p{L}\p{N}._:/-]*[\p{L}\p{N}]/gu

/** Returns names that must not be misspelt: words with digits, dots, slashes, colons or _, and CAPITALS. */
export function findIdentifiers(text: string): string[] {
  const words = text.match(IDENTIFIER) ?? []
  const named = words.filter(
    word =>
      word.length >= 3 &&
      word.length <= 80 &&
      (/\d/.test(word) || /[._:/]/.test(word) || /^\p{Lu}{3,}$/u.test(word)),
  )
  return [...new Set(named)]
}

/** The largest part of the replaced text that a summary may take, and the tokens that it may always have. */
const LARGEST_PART = 0.25
const LEAST_TOKENS = 300

/** Returns the tokens that a summary of `replaced` tokens may have. */
export function roomForSummary(replaced: number): number {
  return Math.max(LEAST_TOKENS, Math.floor(replaced * LARGEST_PART))
}

/** Returns what is wrong with a model's summary, in words for the model; undefined if nothing is. */
export function findSummaryProblem(
  text: string,
  { replaced, identifiers }: { replaced: number; identifiers: readonly string[] },
): string | undefined {
  if (isBlank(text)) return 'It is empty.'
  if (!parseSummary(text)) return `It lacks a heading; it needs: ${HEADINGS.join(', ')}.`
  const missing = identifiers.filter(identifier => !text.includes(identifier))
  if (missing.length > 0) return `It lacks identifiers of what is still asked: ${missing.join(', ')}.`
  const room = roomForSummary(replaced)
  const tokens = estimateTokens(text)
  return tokens > room ? `It has about ${tokens} tokens; at most ${room} are allowed.` : undefined
}

/** Adds constraints that a summary lacks, verbatim, so that none gets lost however often it is summarised. */
export function withConstraints(sections: Sections, constraints: readonly string[]): Sections {
  const heading = 'Constraints and preferences'
  const kept = sections[heading].filter(line => !isNothing(line))
  const missing = constraints.filter(line => !isNothing(line) && !kept.some(each => each.includes(line)))
  return { ...sections, [heading]: [...kept, ...missing] }
}

function isNothing(line: string): boolean {
  return /^(?:none|nothing|n\/a|-)?\.?$/i.test(line.trim())
}

const LINE = 240
const MOST = { asks: 12, state: 8, done: 16, identifiers: 40 }

function toLine(text: string, length = LINE): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`
}

/**
 * Makes a summary without a model: what people said and limited, verbatim, and what was called with what
 * result. If it is too long, the oldest lines are left out, but never constraints.
 */
export function extractSummary(
  before: Sections | undefined,
  { entries, open }: { entries: readonly HistoryEntry[]; open: readonly string[] },
  room: number,
): Sections {
  const earlier = before ?? emptySections()
  const people = wordsOfPeople(entries)
  const sections = withConstraints(
    {
      Goal: [toLine(people[0] ?? earlier.Goal[0] ?? 'none stated')],
      'Constraints and preferences': earlier['Constraints and preferences'],
      'Open asks': open.map(text => toLine(text)).slice(-MOST.asks),
      'State of the infrastructure': newestResults(entries, drop(earlier['State of the infrastructure'])),
      Done: [...drop(earlier.Done), ...entries.flatMap(({ content }) => doneBy(content))].slice(-MOST.done),
      Identifiers: [
        ...new Set([
          ...drop(earlier.Identifiers),
          ...entries.flatMap(({ content }) => findIdentifiers(content.text.slice(0, 4_000))),
        ]),
      ].slice(-MOST.identifiers),
      'Where to look things up': [
        'search_history finds everything that stood before, tool results included',
        'get_context has the stored facts, list_schedules the pending wake-ups',
      ],
    },
    findConstraints(entries),
  )
  return shorten(sections, room)
}

function drop(lines: readonly string[]): string[] {
  return lines.filter(line => !isNothing(line))
}

function doneBy(content: HistoryContent): string[] {
  if (content.role === 'assistant') return isBlank(content.text) ? [] : [`said: ${toLine(content.text, 120)}`]
  if (content.role === 'tool')
    return [`${content.name}: ${content.isError ? 'failed' : 'ok'}: ${toLine(content.text, 80)}`]
  return []
}

/** Returns the newest result of each tool. */
function newestResults(entries: readonly HistoryEntry[], earlier: readonly string[]): string[] {
  const byTool = new Map<string, string>()
  for (const { content } of entries) {
    if (content.role === 'tool' && !content.isError) byTool.set(content.name, toLine(content.text))
  }
  const own = [...byTool].map(([name, text]) => `${name} said: ${text}`)
  return [
    ...earlier.filter(line => ![...byTool.keys()].some(name => line.startsWith(`${name} said`))),
    ...own,
  ].slice(-MOST.state)
}

/** The sections that are shortened when a summary is too long, in this order, oldest lines first. */
const GIVES_WAY = ['Done', 'State of the infrastructure', 'Identifiers', 'Open asks', 'Goal'] as const

function shorten(sections: Sections, room: number): Sections {
  let left = estimateTokens(printSummary(sections)) - room
  const result = { ...sections }
  for (const heading of GIVES_WAY) {
    const lines = [...result[heading]]
    const least = heading === 'Open asks' ? 3 : 0
    while (left > 0 && lines.length > least) left -= estimateTokens(lines.shift() ?? '') + 1
    result[heading] = lines
  }
  return result
}
