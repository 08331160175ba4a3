import { z } from 'zod'
import { type AuditRow, auditKinds, auditRow, auditVerdict, describeVerdict } from '../../../schemas/audit.ts'
import { toIso } from '../../core/clock.ts'
import { parseJson } from '../../core/json.ts'
import { escapeUnseen, toLine } from '../../core/text.ts'
import { readTimeframe } from '../../core/timeframe.ts'
import {
  hasOtherArguments,
  type ListedAuditRow,
  listAudit,
  showArguments,
  verifyAudit,
} from '../../store/audit-log.ts'
import { defineHubTool, toView } from './hub-tool.ts'

export const listAuditRows = defineHubTool({
  name: 'hub_list_audit',
  title: 'List the audit',
  description:
    'Who did what, and by what right: calls of tools, decisions, sign-ins, tokens, changes of config and tools, webhooks. The newest first.',
  input: z.strictObject({
    since: z.string().optional().describe('ISO 8601'),
    until: z.string().optional().describe('ISO 8601'),
    timeframe: z.string().max(50).optional().describe('in place of since and until: 24h, 7d, today'),
    kinds: z.array(z.enum(auditKinds)).min(1).optional().describe('default: all'),
    actor: z.string().optional().describe("a token's name, agent:<name>, hook:<name> or hub"),
    tool: z.string().optional(),
    after: z.int().min(0).optional().describe('only rows after this seq, the oldest first'),
    limit: z.int().min(1).max(1000).default(100),
  }),
  output: z.object({ rows: z.array(auditRow) }),
  effect: 'reads',
  right: 'admin',
  async run({ since, until, timeframe, ...filter }, { deps }) {
    const frame = readTimeframe({ since, until, timeframe }, deps.clock.now(), deps.timezone)
    const rows = await listAudit(deps.store.db, { ...frame, ...filter })
    return { rows: rows.map(row => toAuditRow(row, deps.redact)) }
  },
  toText: ({ rows }) => rows.map(describeRow).join('\n') || 'No rows.',
})

export const verifyAuditChain = defineHubTool({
  name: 'hub_verify_audit',
  title: 'Verify the audit',
  description: 'Checks that no row of the audit was changed or removed since it was written.',
  input: z.strictObject({}),
  output: auditVerdict,
  effect: 'reads',
  right: 'admin',
  run: (_args, { deps }) => verifyAudit(deps.store.db),
  toText: describeVerdict,
})

/** Returns a row with its arguments: a client's are in the row, an agent's in the ledger while they are kept. */
function toAuditRow(listed: ListedAuditRow, redact: (text: string) => string): AuditRow {
  const { ledger_arguments, ...row } = listed
  const { details, ...rest } = toView(row)
  const { arguments: own, ...others } = details as Record<string, unknown>
  const ledger = ledger_arguments === null ? undefined : (parseJson(ledger_arguments) ?? ledger_arguments)
  const mark = hasOtherArguments(listed) ? 'NOT THOSE OF THE CALL: ' : ''
  const shown = ledger === undefined ? own : `${mark}${showArguments(ledger, redact)}`
  return auditRow.parse({ ...rest, details: others, ...(shown === undefined ? {} : { arguments: shown }) })
}

/** Characters of a hash that people compare; programs read the whole. */
const SHOWN_HASH = 12

/** Returns details as people read them: with short hashes, and nothing that is empty. */
function toFacts(details: AuditRow['details']): string {
  const facts = Object.entries(details).flatMap(([key, value]) => {
    if (Array.isArray(value) && value.length === 0) return []
    return [[key, /hash$|^sha256$/i.test(key) ? String(value).slice(0, SHOWN_HASH) : value]]
  })
  return facts.length === 0 ? '' : ` ${JSON.stringify(Object.fromEntries(facts))}`
}

function describeRow({ seq, at, kind, actor, role, door, power, tool, outcome, ...row }: AuditRow): string {
  const over = door && door !== 'agent' && `over ${door}`
  const by = [role, over, power && `power ${power}`].filter(Boolean).join(', ')
  const facts = toFacts(row.details)
  const what = [kind, tool, row.arguments].filter(Boolean).join(' ')
  return toLine(escapeUnseen(`${seq} ${toIso(at)} ${actor}${by && ` (${by})`}: ${what}: ${outcome}${facts}`))
}
