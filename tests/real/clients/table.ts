import { PROBES } from './features.ts'
import type { Row } from './survey.ts'

const FEATURES = ['connects', ...Object.keys(PROBES)]
const SIGNS = { works: 'yes', cannot: '–', fails: 'no' } as const

/** The rows as a Markdown table, and under it why a cell says no. */
export function toTable(rows: readonly Row[]): string {
  const head = ['client', 'version', 'over', 'era', ...FEATURES.slice(1)]
  const lines = rows.map(({ client, version, era, cells }) => [
    client.name,
    version,
    client.over,
    era ?? 'no',
    ...FEATURES.slice(1).map(name => SIGNS[cells[name]?.kind ?? 'fails']),
  ])
  const why = rows.flatMap(({ client, cells }) =>
    Object.entries(cells).flatMap(([name, cell]) =>
      cell.kind === 'fails' ? [`- ${client.name}, ${client.over}, ${name}: ${cell.why.slice(0, 200)}`] : [],
    ),
  )
  return [head, head.map(() => '---'), ...lines]
    .map(cells => `| ${cells.join(' | ')} |`)
    .concat(why.length > 0 ? ['', ...why] : [])
    .join('\n')
}
