import { parseArgs } from 'node:util'
import { clients, labelOf } from './clients.ts'
import { openSurvey, type Row } from './survey.ts'
import { toTable } from './table.ts'

/* Prints the table of clients and features. `--full` adds the heavy ones, `--only WORDS` takes those that have them in their name. */

const { values } = parseArgs({
  options: { full: { type: 'boolean' }, only: { type: 'string' }, write: { type: 'boolean' } },
})
const wanted = clients.filter(
  client => (values.full || !client.isHeavy) && (!values.only || labelOf(client).includes(values.only)),
)
await using survey = await openSurvey()
const rows: Row[] = []
for (const client of wanted) {
  const row = await survey.measure(client)
  process.stderr.write(`${labelOf(client)}: ${Math.round(row.took)} ms\n`)
  rows.push(row)
}
process.stdout.write(`${toTable(rows)}\n`)
