import Database from 'better-sqlite3'

/** What is looked for of a tool; `more` is what its server says of itself. */
export interface IndexedTool {
  name: string
  title: string
  description: string
  arguments: string
  more: string
}

/** Full text over tools, in memory. Dispose of it. */
export interface ToolIndex extends Disposable {
  /** Names, the best first, for the quoted phrases; the last one may go on. */
  search(phrases: readonly string[], limit: number): string[]
}

/** How much a word counts in a column: in the name most. */
const WEIGHTS = '10.0, 6.0, 2.0, 1.0, 0.5'

export function createToolIndex(tools: readonly IndexedTool[]): ToolIndex {
  const database = new Database(':memory:')
  database.exec(
    "create virtual table tools using fts5(name, title, description, arguments, more, tokenize = 'porter unicode61 remove_diacritics 2')",
  )
  const insert = database.prepare('insert into tools values (?, ?, ?, ?, ?)')
  database.transaction(() => {
    for (const tool of tools) {
      insert.run(toWords(tool.name), tool.title, tool.description, toWords(tool.arguments), tool.more)
    }
  })()
  const select = database
    .prepare(`select rowid from tools where tools match ? order by bm25(tools, ${WEIGHTS}) limit ?`)
    .pluck()
  return {
    search(phrases, limit) {
      const quoted = phrases.map(phrase => `"${phrase.replaceAll('"', '""')}"`)
      const rows = quoted.length > 0 ? (select.all(`${quoted.join(' OR ')}*`, limit) as number[]) : []
      return rows.flatMap(row => tools[row - 1]?.name ?? [])
    },
    [Symbol.dispose]: () => void database.close(),
  }
}

/** "getPlayerCount" and "get_player_count" as words. */
function toWords(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ')
}
