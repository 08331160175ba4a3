import type { Command } from 'commander'
import { z } from 'zod'
import { type AuditVerdict, auditRow, auditVerdict, describeVerdict } from '../../../schemas/audit.ts'
import { createEnvironment } from '../../config/environment.ts'
import { locateStore } from '../../config/load.ts'
import { HubError } from '../../core/errors.ts'
import { escapeUnseen } from '../../core/text.ts'
import type { StorePlace } from '../../store/open.ts'
import { callHub, printCall } from '../call-hub.ts'
import { findHub, findRunning } from '../find-hub.ts'
import { print } from '../print.ts'

/** Rows of one call while all of them are written out. */
const PAGE = 1_000
/** Milliseconds that checking the whole chain may take. */
const VERIFY_MS = 10 * 60_000

interface Options {
  verify?: boolean
  json?: boolean
  since?: string
  actor?: string
  tool?: string
}

export function define(command: Command): void {
  command
    .option('--verify', 'check that no row was changed or removed; exit code 1 if one was')
    .option('--since <time>', 'ISO 8601, or a span such as 7d')
    .option('--actor <name>', 'only of this one: the name of a token, agent:<name>, hook:<name> or hub')
    .option('--tool <name>', 'only of this tool')
    .option('--json', 'every row as a line of JSON, the oldest first')
    .action(({ verify, json, since, ...filter }: Options) => {
      if (verify) return printVerdict()
      const isTime = since !== undefined && /^\d{4}-/.test(since)
      const frame = since === undefined ? {} : isTime ? { since } : { timeframe: since }
      return json ? printRows({ ...frame, ...filter }) : printCall('hub_list_audit', { ...frame, ...filter })
    })
}

/** Has the running hub check the chain; where none runs, checks that of the data folder. */
async function printVerdict(): Promise<void> {
  const hub = findRunning()
  if (!hub) return printVerdictOf(locateStore(createEnvironment()))
  const { structured, text } = await callHub(hub, 'hub_verify_audit', {}, { timeout: VERIFY_MS })
  printChecked(`${text} The hub at ${hub.url} checked it.`, auditVerdict.parse(structured))
}

async function printVerdictOf(place: StorePlace): Promise<void> {
  const [{ describePlace, openStoreToRead }, { verifyAudit }] = await Promise.all([
    import('../../store/open.ts'),
    import('../../store/audit-log.ts'),
  ])
  const db = await openStoreToRead(place)
  try {
    const verdict = await verifyAudit(db)
    printChecked(
      `${describeVerdict(verdict)} No hub was found here, so the store was read (${describePlace(place)}).`,
      verdict,
    )
  } finally {
    await db.destroy()
  }
}

function printChecked(text: string, { broken }: AuditVerdict): void {
  if (broken) throw new HubError('conflict', text)
  print(text)
}

async function printRows(filter: object): Promise<void> {
  const hub = findHub()
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { structured } = await callHub(hub, 'hub_list_audit', { ...filter, after, limit: PAGE })
    const { rows } = z.object({ rows: z.array(auditRow) }).parse(structured)
    for (const row of rows) process.stdout.write(`${escapeUnseen(JSON.stringify(row))}\n`)
    after = rows.length < PAGE ? undefined : rows.at(-1)?.seq
  }
}
