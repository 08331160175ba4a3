import { holdsPhrases } from '../../core/full-text.ts'
import type { ModelTool } from '../../core/model.ts'
import { findNearest } from '../../core/spelling.ts'
import { toIndexedTool } from '../../store/indexed-tool.ts'
import { createToolIndex } from '../../store/sqlite-tool-index.ts'
import { type Filled, fillArguments, toStem } from './fields.ts'
import { isOrderWord, isStop, KNOWN_WORDS, meaningsOf, toWords } from './words.ts'

/** A tool that a sentence may mean, with what the sentence says for its arguments. */
export interface Match {
  tool: ModelTool
  filled: Filled
  /** True where every word of the sentence speaks of the tool or gives an argument, and none is missing. */
  clear: boolean
  /** True where enough of the sentence speaks of the tool that a read-only call harms nobody. */
  near: boolean
  /** Words of the sentence that occur in the tool's name or title. */
  named: string[]
  /** Words of the sentence that occur in all that the tool says of itself. */
  described: string[]
}

const MOST_CANDIDATES = 12
const MOST_WORDS = 40

/** Returns the tools that the hub's own search finds for the words, the best first. */
export function searchTools(words: readonly string[], tools: readonly ModelTool[]): ModelTool[] {
  const phrases = words.slice(0, MOST_WORDS).flatMap(word => [...meaningsOf(word), word])
  if (phrases.length === 0) return []
  using index = createToolIndex(tools.map(tool => toIndexedTool(tool)))
  const byName = new Map(tools.map(tool => [tool.name, tool]))
  return [...index.search(phrases)].flatMap(name => byName.get(name) ?? [])
}

const ASKING =
  /^(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|has|have|any|show|list|get|give|tell|check|find|see|look|display|search|was|welche[rs]?|wer|wie|wann|wo|warum|wieso|ist|sind|hat|haben|gibt|zeig|zeige|liste|suche|quel\p{L}*|qui|que|quoi|combien|comment|pourquoi|ou|est|montre|liste|cherche|cual\p{L}*|quien\p{L}*|cuant\p{L}*|como|donde|muestra\p{L}*|busca|chi|che|cosa|come|quant\p{L}*|mostra\p{L}*|cerca|wat|wie|welke|hoe|hoeveel|zoek|что|кто|как|где|сколько|покажи|есть)(?!\p{L})/u

/** Returns the words of a sentence that ask for a change, by the tools' verbs; none where it only asks. */
export function orderWordsOf(words: readonly string[], tools: readonly ModelTool[]): string[] {
  const first = words.find(word => !isStop(word) || ASKING.test(word))
  if (first === undefined || ASKING.test(first)) return []
  const verbs = new Set(tools.filter(tool => !tool.readOnly).map(verbOf))
  const isOrder = (word: string) =>
    isOrderWord(word) || [word, ...meaningsOf(word)].some(each => verbs.has(each))
  return words.filter(isOrder)
}

/** Returns the verb of a tool's name: "stop" of `stop_game_server` and of `games__stop-server`. */
export function verbOf({ name }: Pick<ModelTool, 'name'>): string {
  return toWords(name.split('__').at(-1)?.replaceAll('_', ' ') ?? '')[0]?.split(/[-.]/)[0] ?? ''
}

/** Returns the tools that a sentence may mean, best match first; `orders` are its words for a change. */
export function matchTools(
  text: string,
  tools: readonly ModelTool[],
  orders: readonly string[] = [],
): Match[] {
  const words = toKnownWords(text, tools)
  const keywords = words.filter(word => !isStop(word, orders.length > 0))
  const ranked = searchTools(keywords, tools).slice(0, MOST_CANDIDATES)
  const found = ranked.map(tool => toMatch(tool, { text, words, keywords, orders }))
  const isOrder = (word: string) => orders.includes(word)
  return found
    .filter(({ described }) => keywords.every(isOrder) || !described.every(isOrder))
    .sort((a, b) => Number(b.clear) - Number(a.clear) || scoreOf(b) - scoreOf(a))
}

/** Scores a match; equal ones stay in the order of the search. */
function scoreOf({ named, filled, tool }: Match): number {
  const given = Object.keys(filled.arguments)
  // A tool named after its argument is about that one thing: `get_game_server` for "is quake up?".
  const isSubject = given.some(name => tool.name.endsWith(`_${name}`))
  const open = named.filter(word => !filled.used.has(word))
  return open.length + given.length + (isSubject ? 0.5 : 0) - 2 * filled.missing.length
}

/** Returns the words of a text, with spelling corrected. */
export function toKnownWords(text: string, tools: readonly ModelTool[]): string[] {
  const words = toWords(text.replace(PATH, ' '))
  if (words.length > MOST_WORDS || !words.some(isUnknown)) return words
  const said = tools.map(tool => `${labelOf(tool)} ${tool.description} ${JSON.stringify(tool.inputSchema)}`)
  const stems = [...new Set(toWords(said.join(' ').replaceAll('_', ' ')).map(toStem))]
  return words.map(word => {
    if (!isUnknown(word) || stems.some(stem => stem.startsWith(toStem(word)))) return word
    const [nearest, other] = findNearest(word, KNOWN_WORDS)
    return nearest !== undefined && other === undefined ? nearest : word
  })
}

const PATH = /(?<!\S)\/\S+/g
const SHORTEST_SLIP = 5

function isUnknown(word: string): boolean {
  return (
    word.length >= SHORTEST_SLIP && !/[\d._-]/.test(word) && !isStop(word) && meaningsOf(word).length === 0
  )
}

interface Sentence {
  text: string
  words: string[]
  keywords: string[]
  orders: readonly string[]
}

function toMatch(tool: ModelTool, { text, words, keywords, orders }: Sentence): Match {
  const { description, inputSchema, readOnly } = tool
  const label = labelOf(tool)
  const whole = `${label} ${description} ${toIndexedTool(tool).arguments.replaceAll('_', ' ')}`
  const named = keywords.filter(word => speaksOf(label, word))
  const described = keywords.filter(word => speaksOf(whole, word))
  // A word of an order that occurs only in a description may change what is meant: "without warning".
  const known = orders.length > 0 ? named : described
  const open = keywords.filter(word => !known.includes(word))
  const subject = named.filter(word => !orders.includes(word))
  const filled = fillArguments(inputSchema, { text, words, open, described, named: subject })
  const isOne = orders.every(word => [word, ...meaningsOf(word)].includes(verbOf(tool)))
  // A single word of a description does not tell which tool is meant.
  const isKnown = named.length > 0 || described.length > 1
  const left = open.filter(word => !filled.used.has(word))
  // A read-only tool may be chosen although it does not explain every word, but it has to explain numbers.
  const mayMiss =
    readOnly && named.length > 0 && !left.some(word => /\d/.test(word)) ? described.length / 2 : 0
  const clear = isOne && isKnown && filled.missing.length === 0 && left.length <= mayMiss
  const isDescribed = named.length > 0 || described.length > 1 || described.length === keywords.length
  const near = isDescribed && 2 * described.length >= keywords.length
  return { tool, filled, clear, near, named, described }
}

function labelOf({ name, title = '' }: ModelTool): string {
  return `${name.replaceAll(/[_-]/g, ' ')} ${title}`
}

/** Tells whether a text has the word, one that begins like it, or one that it is known to mean. */
function speaksOf(text: string, word: string): boolean {
  return [word, ...meaningsOf(word)].some(each => holdsPhrases(text, [toStem(each)], 'all'))
}
