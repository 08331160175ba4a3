import { readFileSync } from 'node:fs'
import { PROBES } from './features.ts'
import type { ClientDriver } from './open-client.ts'
import { versionOf } from './packages.ts'
import type { Row } from './survey.ts'

/** The document that holds the table, as it was measured last. */
export const DOCUMENT = new URL('../../../docs/clients.md', import.meta.url)

const BEGIN = '| client |'
const HEAD = ['client', 'version', 'over', 'era', ...Object.keys(PROBES)]
const SIGNS = { works: 'yes', cannot: '–', fails: 'no' } as const

/** A row of the table as cells, in the order of its head. */
export function toCells({ client, era, cells }: Pick<Row, 'client' | 'era' | 'cells'>): string[] {
  const signs = Object.keys(PROBES).map(name => SIGNS[cells[name]?.kind ?? 'fails'])
  return [...identify(client), era ?? 'no', ...signs]
}

/** What a row begins with: name, version and way. */
export function identify(client: ClientDriver): string[] {
  return [client.name, versionOf(client.of, client.installed), client.over]
}

/** The rows as a Markdown table. */
export function toTable(rows: readonly Row[]): string {
  return [HEAD, HEAD.map(() => '---'), ...rows.map(toCells)]
    .map(cells => `| ${cells.join(' | ')} |`)
    .join('\n')
}

/** Why the cells that say no do. */
export function explain({ cells }: Pick<Row, 'cells'>): string[] {
  return Object.entries(cells).flatMap(([name, cell]) =>
    cell.kind === 'fails' ? [`${name}: ${cell.why}`] : [],
  )
}

/** The rows of the document's table; its head as the first. */
export function documentedRows(text = readFileSync(DOCUMENT, 'utf8')): string[][] {
  return tableOf(text)
    .split('\n')
    .filter(line => !line.startsWith('| ---'))
    .map(line => line.slice(2, -2).split(' | '))
}

/** The document with another table and date. */
export function withTable(text: string, table: string, date: string): string {
  return text.replace(tableOf(text), () => table).replace(/\d{4}-\d{2}-\d{2}(?=\.$)/m, date)
}

function tableOf(text: string): string {
  const begin = text.indexOf(BEGIN)
  if (begin < 0) throw new Error('docs/clients.md has no table of clients')
  return text.slice(begin).split('\n\n')[0]?.trimEnd() ?? ''
}
