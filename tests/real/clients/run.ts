import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { clients, labelOf } from './clients.ts'
import { openSurvey, type Row } from './survey.ts'
import { DOCUMENT, explain, toCells, toTable, withRows } from './table.ts'

/*
 * Prints the table of clients and features. `--only WORDS` selects rows by their names, `--light` leaves out
 * downloads of more than 100 MB, `--write` puts the rows into docs/clients.md.
 */

const { values } = parseArgs({
  options: { only: { type: 'string' }, light: { type: 'boolean' }, write: { type: 'boolean' } },
})
const { only = '', light, write } = values
const wanted = clients.filter(client => labelOf(client).includes(only) && !(light && client.isHeavy))

const rows: Row[] = []
const survey = await openSurvey()
for (const client of wanted) {
  const row = await survey.measure(client)
  process.stderr.write(`${[labelOf(client), ...explain(row)].join('\n  ')} (${Math.round(row.took)} ms)\n`)
  rows.push(row)
}
await survey[Symbol.asyncDispose]()
process.stdout.write(`${toTable(rows.map(toCells))}\n`)
if (write) {
  const today = new Date().toISOString().slice(0, 10)
  writeFileSync(DOCUMENT, withRows(readFileSync(DOCUMENT, 'utf8'), rows, clients, today))
}
