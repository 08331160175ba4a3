import { hashRow } from '../../hub/store/audit-log.ts'
import type { AuditTableRow, Tables } from '../../hub/store/tables.ts'
import type { World } from './world.ts'

/** Returns what is wrong with the audit: a break in its chain, or a call that ended without exactly one row. */
export function checkAudit({ rows }: Pick<World, 'rows'>): string[] {
  const problems: string[] = []
  let [seq, hash] = [0, '']
  for (const row of rows<AuditTableRow>('select * from audit order by seq')) {
    if (row.seq !== seq + 1 || hashRow(hash, row) !== row.hash)
      problems.push(`Row ${row.seq} of the audit does not follow row ${seq}`)
    ;[seq, hash] = [row.seq, row.hash]
  }
  const [chain] = rows<Tables['audit_chain']>('select * from audit_chain')
  if (seq === 0 || chain?.last_seq !== seq || chain.last_hash !== hash)
    problems.push(`The audit ends with row ${seq}, and not where its chain does`)
  const ended = rows<{ id: string; count: number }>(
    `select id, (select count(*) from audit where kind = 'call' and call_id = tool_calls.id) as count
      from tool_calls where ended_at is not null`,
  )
  const wrong = ended.filter(({ count }) => count !== 1)
  return [
    ...problems,
    ...wrong.map(({ id, count }) => `The call ${id} ended with ${count} rows of the audit`),
  ]
}
