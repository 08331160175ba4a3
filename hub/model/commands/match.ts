import { holdsPhrases } from '../../core/full-text.ts'
import type { ModelTool } from '../../core/model.ts'
import { toIndexedTool } from '../../store/indexed-tool.ts'
import { createToolIndex } from '../../store/sqlite-tool-index.ts'
import { type Filled, fillArguments, toStem } from './fields.ts'
import { isOrderWord, isStop, meaningsOf, toWords } from './words.ts'

/** A tool that a sentence may mean, with what the sentence says for its arguments. */
export interface Match {
  tool: ModelTool
  filled: Filled
  /** Every word of the sentence speaks of the tool or gives an argument, and nothing is missing. */
  clear: boolean
}

const MOST_CANDIDATES = 12
const MOST_WORDS = 40

/** What the hub's own search finds for the words, the best first. */
export function searchTools(words: readonly string[], tools: readonly ModelTool[]): ModelTool[] {
  const phrases = words.slice(0, MOST_WORDS).flatMap(word => [...meaningsOf(word), word])
  if (phrases.length === 0) return []
  using index = createToolIndex(tools.map(tool => toIndexedTool(tool)))
  const byName = new Map(tools.map(tool => [tool.name, tool]))
  return [...index.search(phrases)].flatMap(name => byName.get(name) ?? [])
}

const ASKING =
  /^(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|has|have|any|show|list|get|give|tell|check|find|see|look|display|search|was|welche[rs]?|wer|wie|wann|wo|warum|wieso|ist|sind|hat|haben|gibt|zeig|zeige|liste|suche|quel\p{L}*|qui|que|quoi|combien|comment|pourquoi|ou|est|montre|liste|cherche|cual\p{L}*|quien\p{L}*|cuant\p{L}*|como|donde|muestra\p{L}*|busca|chi|che|cosa|come|quant\p{L}*|mostra\p{L}*|cerca|wat|wie|welke|hoe|hoeveel|zoek|что|кто|как|где|сколько|покажи|есть)(?!\p{L})/u

/** The words of a sentence that ask for a change, by what the tools' names begin with; none where it only asks. */
export function orderWordsOf(words: readonly string[], tools: readonly ModelTool[]): string[] {
  const first = words.find(word => !isStop(word) || ASKING.test(word))
  if (first === undefined || ASKING.test(first)) return []
  const verbs = new Set(tools.filter(tool => !tool.readOnly).map(verbOf))
  const isOrder = (word: string) =>
    isOrderWord(word) || [word, ...meaningsOf(word)].some(each => verbs.has(each))
  return words.filter(isOrder)
}

/** "stop" of `stop_game_server` and of `games__stop-server`. */
export function verbOf({ name }: Pick<ModelTool, 'name'>): string {
  return toWords(name.split('__').at(-1)?.replaceAll('_', ' ') ?? '')[0]?.split(/[-.]/)[0] ?? ''
}

/** The tools that a sentence may mean, those that explain most of its words first; `orders` are its words for a change. */
export function matchTools(
  text: string,
  tools: readonly ModelTool[],
  orders: readonly string[] = [],
): Match[] {
  const words = toWords(text)
  const telling = words.filter(word => !isStop(word, orders.length > 0))
  const ranked = searchTools(telling, tools).slice(0, MOST_CANDIDATES)
  const found = ranked.map((tool, rank) => ({ ...toMatch(tool, { text, words, telling, orders }), rank }))
  // One word that stands in several descriptions says little about which is meant.
  const isVague = ({ named, told }: Told) =>
    named.length === 0 &&
    told.length === 1 &&
    found.filter(each => each.told.includes(told[0] ?? '')).length > 1
  const isMeant = ({ told }: Told) => told.some(word => !orders.includes(word))
  const meant = telling.every(word => orders.includes(word)) ? found : found.filter(isMeant)
  return meant
    .map(each => ({ ...each, clear: each.clear && !isVague(each) }))
    .sort((a, b) => Number(b.clear) - Number(a.clear) || b.score - a.score || a.rank - b.rank)
}

interface Sentence {
  text: string
  words: string[]
  telling: string[]
  orders: readonly string[]
}

/** Words of a sentence that stand in a tool's name or title, and in all that it says of itself. */
interface Told {
  named: string[]
  told: string[]
}

function toMatch(
  tool: ModelTool,
  { text, words, telling, orders }: Sentence,
): Match & Told & { score: number } {
  const { name, title = '', description, inputSchema, readOnly } = tool
  const label = `${name.replaceAll(/[_-]/g, ' ')} ${title}`
  const whole = `${label} ${description} ${toIndexedTool(tool).arguments.replaceAll('_', ' ')}`
  const named = telling.filter(word => speaksOf(label, word))
  const told = telling.filter(word => speaksOf(whole, word))
  // A word of an order that stands in a description alone may change what is meant: "without warning".
  const known = orders.length > 0 ? named : told
  const open = telling.filter(word => !known.includes(word))
  const subject = named.filter(word => !orders.includes(word))
  const filled = fillArguments(inputSchema, { text, words, open, named: subject })
  const isOne = orders.every(word => [word, ...meaningsOf(word)].includes(verbOf(tool)))
  const isKnown = named.length > 0 || told.length > 1 || told.some(word => meaningsOf(word).length > 0)
  const left = open.filter(word => !filled.used.has(word))
  // What only reads may be off the mark by a word that no tool knows, but not by a number.
  const mayMiss = readOnly && named.length > 0 && !left.some(word => /\d/.test(word)) ? told.length / 2 : 0
  const clear = isOne && isKnown && filled.missing.length === 0 && left.length <= mayMiss
  return {
    tool,
    filled,
    clear,
    named,
    told,
    score: 2 * named.length + told.length - 2 * filled.missing.length,
  }
}

/** Whether a text has the word, one that begins like it, or what it is known to mean. */
function speaksOf(text: string, word: string): boolean {
  return [word, ...meaningsOf(word)].some(each => holdsPhrases(text, [toStem(each)], 'all'))
}
