import Database from 'better-sqlite3'
import { findNearest } from '../core/spelling.ts'

/** The searched texts of a tool; `more` is its server's self-description. */
export interface IndexedTool {
  name: string
  /** Name in words. */
  words: string
  title: string
  description: string
  arguments: string
  more: string
}

/** Full-text index of tools, in memory. Its creator disposes of it. */
export interface ToolIndex extends Disposable {
  /**
   * Returns the names of tools that have any of the phrases, the best first, equal ones in their order; the
   * last phrase may go on. A word that no tool has stands for those that begin with it, else for those that
   * it is a misspelling of.
   */
  search(phrases: readonly string[]): Iterable<string>
}

/** Weights of a word in each column: the name counts most. */
const WEIGHTS = '10.0, 6.0, 2.0, 1.0, 0.5'
/** Length of the shortest word that may be the beginning of another. */
const SHORTEST_BEGINNING = 3
const WORDS = /[\p{L}\p{N}]+/gu

export function createToolIndex(tools: readonly IndexedTool[]): ToolIndex {
  const database = new Database(':memory:')
  database.exec(
    "create virtual table tools using fts5(name, title, description, arguments, more, tokenize = 'porter unicode61 remove_diacritics 2')",
  )
  const insert = database.prepare('insert into tools values (?, ?, ?, ?, ?)')
  database.transaction(() => {
    for (const { words, title, description, arguments: args, more } of tools)
      insert.run(words, title, description, args, more)
  })()
  const select = database
    .prepare<[string], number>(
      `select rowid from tools where tools match ? order by bm25(tools, ${WEIGHTS}), rowid`,
    )
    .pluck()
  const any = database.prepare('select 1 from tools where tools match ? limit 1')
  let vocabulary: Set<string> | undefined
  const expand = (phrase: string): string[] => {
    if (any.get(quote(phrase))) return [quote(phrase)]
    const parts = phrase.split(' ')
    if (parts.length > 1) return parts.flatMap(expand)
    const humps = splitHumps(phrase)
    if (humps !== phrase) return humps.split(' ').flatMap(expand)
    const beginning = `${quote(phrase)}*`
    if (phrase.length >= SHORTEST_BEGINNING && any.get(beginning)) return [beginning]
    vocabulary ??= readVocabulary(tools)
    return findNearest(phrase.toLowerCase(), vocabulary).map(quote)
  }
  return {
    *search(phrases) {
      const last = phrases.at(-1)
      const wanted = phrases.flatMap(expand)
      if (last !== undefined) wanted.push(`${quote(last)}*`)
      if (wanted.length === 0) return
      for (const row of select.iterate([...new Set(wanted)].join(' OR '))) {
        const tool = tools[row - 1]
        if (tool) yield tool.name
      }
    },
    [Symbol.dispose]: () => void database.close(),
  }
}

/** Splits a name into words: "getPlayerCount" becomes "get Player Count". */
export function splitHumps(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2')
}

function quote(phrase: string): string {
  return `"${phrase.replaceAll('"', '""')}"`
}

/** Returns every word as it is written. A server's text, the same for all of its tools, is read once. */
function readVocabulary(tools: readonly IndexedTool[]): Set<string> {
  const texts = new Set(
    tools.flatMap(tool => [tool.words, tool.title, tool.description, tool.arguments, tool.more]),
  )
  return new Set([...texts].flatMap(text => text.toLowerCase().match(WORDS) ?? []))
}
