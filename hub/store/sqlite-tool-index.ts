import Database from 'better-sqlite3'
import { findNearest } from '../core/spelling.ts'

/** What is looked for of a tool; `more` is what its server says of itself. */
export interface IndexedTool {
  name: string
  /** Its name in words. */
  words: string
  title: string
  description: string
  arguments: string
  more: string
}

/** Full text over tools, in memory. Dispose of it. */
export interface ToolIndex extends Disposable {
  /**
   * Names, the best first, of equal ones in their order, for any of the phrases; the last one may go on. A word that
   * no tool has stands for those that begin with it, else for those that it is a misspelling of.
   */
  search(phrases: readonly string[]): Iterable<string>
}

/** How much a word counts in a column: in the name most. */
const WEIGHTS = '10.0, 6.0, 2.0, 1.0, 0.5'
/** The shortest word that may be the beginning of another. */
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

/** "getPlayerCount" as words. */
export function splitHumps(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2')
}

function quote(phrase: string): string {
  return `"${phrase.replaceAll('"', '""')}"`
}

/** Every word as it is written; a server's own text is the same for all of its tools. */
function readVocabulary(tools: readonly IndexedTool[]): Set<string> {
  const texts = new Set(
    tools.flatMap(tool => [tool.words, tool.title, tool.description, tool.arguments, tool.more]),
  )
  return new Set([...texts].flatMap(text => text.toLowerCase().match(WORDS) ?? []))
}
