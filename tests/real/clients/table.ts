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

/** Rows as a Markdown table, under its head. */
export function toTable(rows: readonly (readonly string[])[]): string {
  return [HEAD, HEAD.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
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

/** The document with these rows in place of what it said of the same clients, those in their order, and another date. */
export function withRows(
  text: string,
  rows: readonly Row[],
  clients: readonly ClientDriver[],
  date: string,
): string {
  const known = [...rows.map(toCells), ...documentedRows(text)]
  const isOf = (cells: readonly string[], client: ClientDriver) =>
    cells[0] === client.name && cells[2] === client.over
  const table = toTable(clients.flatMap(client => [known.find(cells => isOf(cells, client)) ?? []]))
  return text.replace(tableOf(text), () => table).replace(/\d{4}-\d{2}-\d{2}(?=\.$)/m, date)
}

function tableOf(text: string): string {
  const begin = text.indexOf(BEGIN)
  if (begin < 0) throw new Error('docs/clients.md has no table of clients')
  return text.slice(begin).split('\n\n')[0]?.trimEnd() ?? ''
}
