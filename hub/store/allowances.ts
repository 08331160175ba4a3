import type { Kysely } from 'kysely'
import { toIso } from '../core/clock.ts'
import { type AuditEntry, record } from './audit-log.ts'
import type { AllowanceRow, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export async function addAllowance(tx: Tx, row: Omit<AllowanceRow, 'revoked_at'>): Promise<void> {
  await tx.insertInto('allowances').values(row).execute()
  await record(tx, toEntry(row, { at: row.created_at, by: row.created_by, outcome: 'made' }))
}

function toEntry(
  { id, agent, tool, power, until }: Omit<AllowanceRow, 'revoked_at'>,
  { at, by, outcome }: { at: number; by: string; outcome: string },
): AuditEntry {
  return {
    at,
    kind: 'allowance',
    actor: by,
    power,
    tool,
    outcome,
    details: { allowance: id, agent, until: toIso(until) },
  }
}

/** Returns until when a person allowed the agent's tool for this power and reason; undefined if that is not in force. */
export async function allowedUntil(
  db: Kysely<Tables>,
  {
    agent,
    tool,
    power,
    reason,
    now,
  }: Pick<AllowanceRow, 'agent' | 'tool' | 'power' | 'reason'> & { now: number },
): Promise<number | undefined> {
  const row = await selectCurrent(db, now)
    .where('agent', '=', agent)
    .where('tool', '=', tool)
    .where('power', '=', power)
    .where('reason', '=', reason)
    .orderBy('until', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.until
}

/** Lists the allowances in force, the newest first. */
export function listAllowances(db: Kysely<Tables>, now: number): Promise<AllowanceRow[]> {
  return selectCurrent(db, now).orderBy('created_at', 'desc').orderBy('id', 'desc').execute()
}

/** Takes an allowance back; undefined if there is none in force. */
export async function revokeAllowance(
  tx: Tx,
  id: string,
  { by, now }: { by: string; now: number },
): Promise<AllowanceRow | undefined> {
  const row = await tx
    .updateTable('allowances')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where('until', '>', now)
    .returningAll()
    .executeTakeFirst()
  if (row) await record(tx, toEntry(row, { at: now, by, outcome: 'revoked' }))
  return row
}

function selectCurrent(db: Kysely<Tables>, now: number) {
  return db.selectFrom('allowances').selectAll().where('revoked_at', 'is', null).where('until', '>', now)
}
