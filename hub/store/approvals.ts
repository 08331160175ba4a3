import { type Insertable, type Kysely, sql } from 'kysely'
import type { Approval, ApprovalStatus } from '../../schemas/chat.ts'
import { HUB } from '../../schemas/tokens.ts'
import { parseJson } from '../core/json.ts'
import { record } from './audit-log.ts'
import { authorsOfCycle } from './inbox.ts'
import { addNotification, deleteApprovalKeys, renewNotifications } from './notifications.ts'
import type { ApprovalRow, Tables, ToolCallRow } from './tables.ts'
import type { Tx } from './writer.ts'

/** Opens an approval, of which people are notified. Its number is one above the highest. */
export async function createApproval(
  tx: Tx,
  row: Omit<Insertable<Tables['approvals']>, 'number'>,
): Promise<ApprovalRow> {
  await addNotification(tx, row.id, 'approvals', row.created_at)
  const { number } = await tx
    .selectFrom('approvals')
    .select(eb => eb.fn.coalesce(eb.fn.max('number'), eb.lit(0)).as('number'))
    .executeTakeFirstOrThrow()
  const numbered = { ...row, number: Number(number) + 1 }
  return tx.insertInto('approvals').values(numbered).returningAll().executeTakeFirstOrThrow()
}

export function findApproval(db: Kysely<Tables>, id: string): Promise<ApprovalRow | undefined> {
  return db.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Lists approvals, the newest first; with `status`, only those. */
export function listApprovals(
  db: Kysely<Tables>,
  filter: { status?: ApprovalStatus | undefined; limit: number },
): Promise<ApprovalRow[]> {
  const { status, limit } = filter
  return db
    .selectFrom('approvals')
    .selectAll()
    .$if(status !== undefined, query => query.where('status', '=', status ?? 'open'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Returns the approvals that a thread still waits for, the oldest first. */
export function openApprovalsOf(db: Kysely<Tables>, thread: string): Promise<ApprovalRow[]> {
  return db
    .selectFrom('approvals')
    .selectAll()
    .where('thread_id', '=', thread)
    .where('status', '=', 'open')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** Returns the threads that wait for a person's answer. */
export async function threadsAwaitingApproval(db: Kysely<Tables>): Promise<Set<string>> {
  const rows = await db
    .selectFrom('approvals')
    .select('thread_id')
    .distinct()
    .where('status', '=', 'open')
    .execute()
  return new Set(rows.map(row => row.thread_id))
}

export async function countOpenApprovals(db: Kysely<Tables>): Promise<number> {
  const { count } = await db
    .selectFrom('approvals')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .where('status', '=', 'open')
    .executeTakeFirstOrThrow()
  return Number(count)
}

export interface Decided {
  status: Exclude<ApprovalStatus, 'open'>
  at: number
  by: string | null
  where: string | null
  note: string | null
}

/**
 * Decides an approval. The first decision wins: returns undefined if the approval is not open any more, or
 * its time is over.
 */
export async function decideOpen(tx: Tx, id: string, decided: Decided): Promise<ApprovalRow | undefined> {
  const row = await tx
    .updateTable('approvals')
    .set({
      status: decided.status,
      decided_at: decided.at,
      decided_by: decided.by,
      decided_where: decided.where,
      note: decided.note,
    })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .$if(decided.status !== 'expired', query => query.where('expires_at', '>', decided.at))
    .returningAll()
    .executeTakeFirst()
  if (!row) return undefined
  await deleteApprovalKeys(tx, id)
  await recordDecisions(tx, [row], decided.at)
  return row
}

/** Adds what became of approvals to the audit, and has those told of it who were asked elsewhere. */
export async function recordDecisions(tx: Tx, rows: readonly ApprovalRow[], at: number): Promise<void> {
  const entries = rows.map(row => ({
    at,
    kind: 'approval' as const,
    actor: row.decided_by ?? HUB,
    door: row.decided_where,
    power: row.power,
    tool: row.tool,
    outcome: row.status,
    call: row.call_id,
    details: {
      approval: row.id,
      thread: row.thread_id,
      ...(row.question_json === null ? { argumentsHash: row.arguments_hash } : { question: true }),
    },
  }))
  await record(tx, ...entries)
  await renewNotifications(
    tx,
    rows.map(({ id }) => id),
    at,
  )
}

/**
 * Expires the open questions, since their requesters died with the last process. A question whose own call waits
 * for it is answered with the end of that call.
 */
export async function closeQuestions(tx: Tx, now: number): Promise<void> {
  const end = { status: 'expired' as const, decided_at: now, decided_by: HUB, note: CUT_OFF }
  const open = tx.updateTable('approvals').where('question_json', 'is not', null).where('status', '=', 'open')
  const further = await open
    .set({ ...end, answered_at: now })
    .whereRef('call_id', '=', 'id')
    .returningAll()
    .execute()
  const own = await open.set(end).returningAll().execute()
  await recordDecisions(tx, [...further, ...own], now)
}

/** Returns questions of calls that nobody runs any more, and whose end was not told yet. */
export function cutQuestions(db: Kysely<Tables>): Promise<ApprovalRow[]> {
  return db
    .selectFrom('approvals')
    .selectAll()
    .where('question_json', 'is not', null)
    .where('answered_at', 'is', null)
    .orderBy('created_at')
    .execute()
}

const CUT_OFF = 'The hub stopped before anybody answered.'

/**
 * Takes an approved call for one process until `until`: it runs once. Returns undefined if another has it, or
 * its outcome was posted.
 */
export function takeApproved(
  tx: Tx,
  { id, owner, until, now }: { id: string; owner: string; until: number; now: number },
): Promise<ApprovalRow | undefined> {
  return tx
    .updateTable('approvals')
    .set({ lease_owner: owner, lease_until: until })
    .where('id', '=', id)
    .where('status', '=', 'approved')
    .where('answered_at', 'is', null)
    .where(eb => eb.or([eb('lease_owner', 'is', null), eb('lease_until', '<', now)]))
    .returningAll()
    .executeTakeFirst()
}

/** Records that the approval's outcome is in the thread's inbox. */
export async function markAnswered(tx: Tx, id: string, at: number): Promise<void> {
  await tx.updateTable('approvals').set({ answered_at: at }).where('id', '=', id).execute()
}

/** Returns approved approvals whose outcome was not posted yet. */
export async function unansweredApprovals(db: Kysely<Tables>): Promise<string[]> {
  const rows = await db
    .selectFrom('approvals')
    .select('id')
    .where('status', '=', 'approved')
    .where('question_json', 'is', null)
    .where('answered_at', 'is', null)
    .orderBy('decided_at')
    .execute()
  return rows.map(row => row.id)
}

/** Returns the call that an approval is about. */
export function callOfApproval(db: Kysely<Tables>, approval: ApprovalRow): Promise<ToolCallRow> {
  return db.selectFrom('tool_calls').selectAll().where('id', '=', approval.call_id).executeTakeFirstOrThrow()
}

export function overdueApprovals(tx: Tx, now: number): Promise<ApprovalRow[]> {
  return tx
    .selectFrom('approvals')
    .selectAll()
    .where('status', '=', 'open')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .execute()
}

/** Returns when the earliest open approval expires; undefined if none is open. */
export async function nextExpiry(db: Kysely<Tables>): Promise<number | undefined> {
  const { rows } = await sql<{ at: number | null }>`
    select min(expires_at) as at from approvals where status = 'open'`.execute(db)
  return rows[0]?.at ?? undefined
}

/** Returns an open approval with those who asked for its work. */
export async function readAsked(db: Kysely<Tables>, row: ApprovalRow): Promise<Approval> {
  return { ...toApproval(row), askedBy: await authorsOfCycle(db, row.cycle_id) }
}

/** Returns an approval as people see it: with the whole call. */
export function toApproval(row: ApprovalRow): Approval {
  return {
    id: row.id,
    number: row.number,
    agent: row.agent,
    tool: row.tool,
    arguments: (parseJson(row.arguments.trim() || '{}') ?? {}) as Record<string, unknown>,
    reason: row.reason,
    expiresAt: row.expires_at,
    status: row.status,
    power: row.power,
    ...(row.question_json === null ? {} : { question: true }),
    ...(row.conversation_id === null ? {} : { conversation: row.conversation_id }),
    ...(row.decided_by === null ? {} : { decidedBy: row.decided_by }),
    ...(row.decided_where === null ? {} : { decidedWhere: row.decided_where }),
    ...(row.decided_at === null ? {} : { decidedAt: row.decided_at }),
    ...(row.note === null ? {} : { note: row.note }),
  }
}
