import { readFileSync } from 'node:fs'
import { PROBES } from './features.ts'
import type { ClientDriver } from './open-client.ts'
import { versionOf } from './packages.ts'
import type { Row } from './survey.ts'

/** The document with the latest measured table. */
export const DOCUMENT = new URL('../../../docs/clients.md', import.meta.url)

const BEGIN = '| client |'
const HEAD = ['client', 'version', 'over', 'era', ...Object.keys(PROBES)]
const SIGNS = { works: 'yes', cannot: '–', fails: 'no' } as const

/** Returns a row's cells, in the order of the head. */
export function toCells({ client, era, cells }: Pick<Row, 'client' | 'era' | 'cells'>): string[] {
  const signs = Object.keys(PROBES).map(name => SIGNS[cells[name]?.kind ?? 'fails'])
  return [...identify(client), era ?? 'no', ...signs]
}

/** Returns the first cells of a row: name, version and transport. */
export function identify(client: ClientDriver): string[] {
  return [client.name, versionOf(client.of, client.installed), client.over]
}

/** Formats rows as a Markdown table, under its head. */
export function toTable(rows: readonly (readonly string[])[]): string {
  return [HEAD, HEAD.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

/** Returns the reasons of the failed cells. */
export function explain({ cells }: Pick<Row, 'cells'>): string[] {
  return Object.entries(cells).flatMap(([name, cell]) =>
    cell.kind === 'fails' ? [`${name}: ${cell.why}`] : [],
  )
}

/** Returns the rows of the document's table; the first is its head. */
export function documentedRows(text = readFileSync(DOCUMENT, 'utf8')): string[][] {
  return tableOf(text)
    .split('\n')
    .filter(line => !line.startsWith('| ---'))
    .map(line => line.slice(2, -2).split(' | '))
}

/** Replaces the rows of the same clients in the document, in the clients' order, and the date. */
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
