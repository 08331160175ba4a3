import type { KnownTool } from './catalogue.ts'
import { type Heard, hear, type SpokenWord } from './spoken.ts'
import { areSynonyms, COMMON_VERBS, isChange, STOPS } from './synonyms.ts'
import { READ_CHARACTERS, stem, toParts, toSentence, toStems } from './words.ts'

/** How well a sentence fits a tool. */
export interface Match {
  tool: KnownTool
  score: number
  /** The sentence says the tool's name, or orders exactly what the name says. */
  exact: boolean
  /** Of a tool that may change something: the sentence says what to do and to what. Always true of the others. */
  ordered: boolean
  /** The stems of the sentence that speak of the tool itself, not of its arguments. */
  used: ReadonlySet<string>
}

/** Below this a fit is chance. */
const MIN_SCORE = 1.6
/** What may be called without a person's asking, such as for a reminder, or what may change something, fits this well. */
export const STRONG_SCORE = 2.1
/** How much better than the next one the best has to be. */
const MIN_MARGIN = 1.06

/** What a word weighs, by where the tool says it. */
const NAME = 3
const TITLE = 2.5
const CHOICE = 2.2
const DESCRIPTION = 1.4
const ARGUMENT = 1.3
const DETAIL = 0.7
/** What is left of that where only a synonym is said. */
const SYNONYM = 0.72
/** How many words that fit nothing a value of other tools stands for. */
const OTHERS_VALUE = 6
const EXACT = 100
const SMALL_CATALOGUE = 12

interface Entry {
  tool: KnownTool
  weights: Map<string, number>
  name: string[]
  /** The stems of the values that its arguments list. */
  choices: ReadonlySet<string>
}
interface Fit {
  word: SpokenWord
  part: string
  worth: number
}
type Rarity = (part: string) => number

/**
 * The tools that a sentence may mean, best first; those it says nothing about are left out. A word counts by where a
 * tool says it (its name most), times how few tools say it (as in tf-idf); words that fit nothing take away.
 */
export function matchTools(text: string, tools: KnownTool[]): Match[] {
  const entries = tools.map(toEntry)
  const vocabulary = new Set(entries.flatMap(entry => [...entry.weights.keys()]))
  const heard = hear(toSentence(text), vocabulary)
  const rarity = toRarity(entries)
  const named = new Set(entries.flatMap(entry => [...entry.choices]))
  return entries
    .map(entry => toMatch(entry, heard, rarity, named))
    .filter(match => match.score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
}

/** The best of the matches, if it is good enough and clearly better than the next. */
export function clearBest(matches: Match[], minimum = MIN_SCORE): Match | undefined {
  const [best, next] = matches
  if (!best || best.score < minimum || !best.ordered) return undefined
  return next && best.score < next.score * MIN_MARGIN && best.score < EXACT ? undefined : best
}

function toEntry(tool: KnownTool): Entry {
  const weights = new Map<string, number>()
  const add = (text: string, weight: number) => {
    for (const part of toStems(text)) {
      if (!STOPS.has(part) && weight > (weights.get(part) ?? 0)) weights.set(part, weight)
    }
  }
  const [first = '', ...others] = tool.description.slice(0, READ_CHARACTERS).split(/(?<=[.!?])\s+/)
  add(first, DESCRIPTION)
  add(others.join(' '), DETAIL)
  for (const field of tool.fields) {
    add(field.description, DETAIL)
    add(field.name, ARGUMENT)
    for (const choice of field.choices) add(String(choice), CHOICE)
  }
  add(tool.title, TITLE)
  add(tool.name, DETAIL)
  const name = toNameParts(tool).map(stem)
  for (const part of name) weights.set(part, NAME)
  const listed = tool.fields.flatMap(field => field.choices.flatMap(choice => toStems(String(choice))))
  return { tool, weights, name, choices: new Set(listed) }
}

/** The parts of a tool's name without the prefix of its server. */
export function toNameParts(tool: KnownTool): string[] {
  return toParts(tool.name.replace(/^.*?__(?=.)/, ''))
}

/** From 0 to 1: what few tools say counts more. */
function toRarity(entries: Entry[]): Rarity {
  const counts = new Map<string, number>()
  for (const entry of entries) {
    for (const [part, weight] of entry.weights) {
      counts.set(part, (counts.get(part) ?? 0) + Math.min(weight / NAME, 1))
    }
  }
  const size = Math.max(entries.length, SMALL_CATALOGUE)
  return part => {
    const share = Math.log(1 + (1.5 * size) / Math.max(counts.get(part) ?? 1, 1)) / Math.log(1 + size)
    return Math.min(1, share) * (COMMON_VERBS.has(part) ? 0.25 : 1)
  }
}

function toMatch(entry: Entry, heard: Heard, rarity: Rarity, named: ReadonlySet<string>): Match {
  const fits: Fit[] = heard.words.flatMap(word => {
    const best = bestFit(word, entry, rarity)
    return best ? [{ word, part: best.part, worth: best.worth * word.trust }] : []
  })
  const said = new Set(fits.map(fit => fit.part))
  const exact = isExact(entry, heard)
  const ordered = exact > 0 || isOrdered(entry, said, heard)
  const sum = fits.reduce((total, fit) => total + fit.worth, 0)
  const score = sum * toCoverage(entry, heard.words, fits, named) * (0.7 + 0.3 * toNamed(entry, said))
  const deprecated = /\bdeprecated\b/i.test(`${entry.tool.title} ${entry.tool.description}`)
  return {
    tool: entry.tool,
    score:
      exact && !deprecated
        ? EXACT + exact
        : score * (ordered && serves(entry, said, heard.words) ? 1 : 0.5) * (deprecated ? 0.5 : 1),
    exact: exact > 0,
    ordered,
    used: new Set([...fits.map(fit => fit.word.written), ...entry.name]),
  }
}

/** How much of what was said fits; a value that only other tools list (`named`) takes away more. */
function toCoverage(entry: Entry, words: SpokenWord[], fits: Fit[], named: ReadonlySet<string>): number {
  const misses = words
    .filter(word => !word.hint && !fits.some(fit => fit.word === word))
    .reduce(
      (sum, word) => sum + (named.has(word.stem) ? OTHERS_VALUE : takesAnything(entry.tool) ? 0.25 : 1),
      0,
    )
  const fitting = fits.reduce((sum, fit) => sum + (fit.word.hint ? 0.5 : 1), 0)
  return misses === 0 ? 1 : Math.sqrt(fitting / (fitting + misses))
}

/** How much of the name was said. */
function toNamed(entry: Entry, said: ReadonlySet<string>): number {
  const telling = entry.name.filter(part => !COMMON_VERBS.has(part))
  return telling.length === 0 ? 1 : telling.filter(part => said.has(part)).length / telling.length
}

/** The part of the tool that the word fits best; a second one adds a little. */
function bestFit(word: SpokenWord, entry: Entry, rarity: Rarity) {
  const fits = [...entry.weights]
    .filter(([part]) => part === word.stem || word.alike.has(part))
    .map(([part, weight]) => ({ part, worth: weight * rarity(part) * (part === word.stem ? 1 : SYNONYM) }))
    .sort((a, b) => b.worth - a.worth)
  const [best, second] = fits
  return best && { part: best.part, worth: best.worth + 0.2 * (second?.worth ?? 0) }
}

/** A tool with an argument for free words is made less unlikely by words that only that argument can explain. */
function takesAnything(tool: KnownTool): boolean {
  return tool.fields.some(field => field.required && field.kind === 'string' && field.choices.length === 0)
}

/** Whether an order says the tool's verb and at least one thing more that its name or its choices have. */
function isOrdered(entry: Entry, said: ReadonlySet<string>, heard: Heard): boolean {
  if (entry.tool.readOnly) return true
  if (heard.isIdle) return false
  const [verb = '', ...nouns] = entry.name
  return said.has(verb) && [...nouns, ...entry.choices].some(target => said.has(target))
}

/** False where the sentence begins with an order to change something and the tool's own verb is another. */
function serves(entry: Entry, said: ReadonlySet<string>, spoken: SpokenWord[]): boolean {
  const verb = spoken[0]?.stem
  if (!entry.tool.readOnly || verb === undefined || !isChange(verb)) return true
  return entry.name.some(part => said.has(part) && (part === verb || areSynonyms(part, verb)))
}

/** 0 if not, else more for a better fit: the name as it is written, or an order that begins with all of its words. */
function isExact(entry: Entry, heard: Heard): number {
  if (!entry.tool.readOnly && heard.isIdle) return 0
  if (heard.names.has(entry.tool.name)) return EXACT
  const name = toNameParts(entry.tool)
  if (name.length < 2 && (!entry.tool.readOnly || STOPS.has(entry.name[0] ?? ''))) return 0
  if (!entry.name.every((part, index) => part === heard.stems[index])) return 0
  return name.length + (name.every((part, index) => part === heard.parts[index]) ? 0.5 : 0)
}
