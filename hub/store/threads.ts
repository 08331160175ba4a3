import { type Kysely, sql } from 'kysely'
import type { JsonObject } from '../core/forwarding.ts'
import { QUIET_SOURCE } from './inbox.ts'
import type { Tables, ThreadRow, ThreadStatus } from './tables.ts'
import type { Tx } from './writer.ts'

/** Returns the id of the agent's main thread, which is made at its first use. */
export async function ensureMainThread(tx: Tx, agent: string, now: number): Promise<string> {
  const id = mainThreadId(agent)
  await tx
    .insertInto('threads')
    .values({
      id,
      agent,
      kind: 'main',
      status: 'sleeping',
      window_start: 1,
      last_seq: 0,
      fence: 0,
      created_at: now,
      updated_at: now,
    })
    .onConflict(oc => oc.column('id').doNothing())
    .execute()
  return id
}

/** Returns the id of the main thread: every agent has one, so the id follows from the agent's name. */
export function mainThreadId(agent: string): string {
  return `thr_${agent}`
}

export interface ThreadClaim {
  id: string
  owner: string
  until: number
  now: number
}

/**
 * Takes a thread that has something to do for one cycle, and reserves a seq of the history for the batch of a
 * new one. It locks the thread before anything is read. Returns undefined while another has the thread,
 * without work, and for a cycle that waits for its provider, before its time.
 */
export async function claimThread(
  tx: Tx,
  { id, owner, until, now }: ThreadClaim,
): Promise<ThreadRow | undefined> {
  const running = sql`select 1 from cycles where thread_id = ${id} and status = 'running'`
  const waiting = sql`
    select 1 from inbox where thread_id = ${id} and cycle_id is null and source <> ${QUIET_SOURCE}`
  const { rows } = await sql<ThreadRow>`
    update threads set lease_owner = ${owner}, lease_until = ${until}, fence = fence + 1,
      last_seq = last_seq + case when exists (${running}) then 0 else 1 end,
      status = ${unlessEnded('active')}, not_before = null, updated_at = ${now}
    where id = ${id} and (lease_owner is null or lease_until < ${now})
      and (exists (${running}) or exists (${waiting}))
      and (not_before is null or not_before <= ${now}
        or not exists (${running} and parked_at is not null))
    returning *`.execute(tx)
  return rows[0]
}

/** Frees the thread for the next cycle and sets its resting status. */
export async function releaseThread(
  tx: Tx,
  { thread, fence, resting }: { thread: string; fence: number; resting: 'sleeping' | 'waiting' },
  now: number,
): Promise<void> {
  await tx
    .updateTable('threads')
    .set({ lease_owner: null, lease_until: null, status: unlessEnded(resting), updated_at: now })
    .where('id', '=', thread)
    .where('fence', '=', fence)
    .execute()
}

/** Gives up a lease that is left over from a cycle of `owner` that broke off. */
export async function dropLease(tx: Tx, id: string, owner: string): Promise<void> {
  await tx
    .updateTable('threads')
    .set({ lease_owner: null, lease_until: null })
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .execute()
}

/** Raises the fencing number, so that the holder can write no more; undefined if it was not `fence`. */
export async function seizeThread(tx: Tx, id: string, fence: number): Promise<number | undefined> {
  const row = await tx
    .updateTable('threads')
    .set({ fence: fence + 1 })
    .where('id', '=', id)
    .where('fence', '=', fence)
    .returning('fence')
    .executeTakeFirst()
  return row?.fence
}

/** Returns when the first task that is not archived yet ended; undefined if none has. */
export async function earliestEnded(db: Kysely<Tables>): Promise<number | undefined> {
  const { rows } = await sql<{ at: number | null }>`
    select min(ended_at) as at from threads where ended_at is not null and archived_at is null`.execute(db)
  return rows[0]?.at ?? undefined
}

/** Archives the tasks that ended until `before`. */
export async function archiveEnded(tx: Tx, before: number, now: number): Promise<void> {
  await tx
    .updateTable('threads')
    .set({ archived_at: now })
    .where('ended_at', 'is not', null)
    .where('ended_at', '<=', before)
    .where('archived_at', 'is', null)
    .execute()
}

/** Makes the thread wait until `until`, when its items are looked at again. */
export async function holdThread(tx: Tx, id: string, until: number): Promise<void> {
  await tx.updateTable('threads').set({ not_before: until }).where('id', '=', id).execute()
}

/** Returns the status to set: a task that was ended while its cycle runs stays so. */
export function unlessEnded(status: ThreadStatus) {
  return sql<ThreadStatus>`case when ended_at is null then ${status} else status end`
}

export async function readThread(db: Kysely<Tables>, id: string): Promise<ThreadRow | undefined> {
  return db.selectFrom('threads').selectAll().where('id', '=', id).executeTakeFirst()
}

/**
 * Drops every lease at the start of a folder's only hub: each belongs to a process that crashed. The cycles
 * that it ran are suspects of the crash, which counts as an attempt of each.
 */
export async function voidLeases(tx: Tx): Promise<void> {
  const none = { lease_owner: null, lease_until: null }
  const leased = tx.selectFrom('threads').select('id').where('lease_owner', 'is not', null)
  await tx
    .updateTable('cycles')
    .set(eb => ({ attempts: eb('attempts', '+', 1) }))
    .where('status', '=', sql.lit('running'))
    .where('thread_id', 'in', leased)
    .execute()
  await tx.updateTable('threads').set(none).where('lease_owner', 'is not', null).execute()
  // The lease of an approval that is answered stands in nobody's way.
  await tx
    .updateTable('approvals')
    .set(none)
    .where('lease_owner', 'is not', null)
    .where('answered_at', 'is', null)
    .execute()
}

export function listThreads(db: Kysely<Tables>): Promise<ThreadRow[]> {
  return db.selectFrom('threads').selectAll().orderBy('id').execute()
}

export async function hasThread(db: Kysely<Tables>, id: string): Promise<boolean> {
  return (await db.selectFrom('threads').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
}

/** Returns threads that have something to do: an unfinished cycle, or a filled inbox. */
export async function threadsWithWork(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ thread: string }>`
    select thread_id as thread from cycles where status = 'running'
    union select thread_id from inbox where cycle_id is null and source <> ${QUIET_SOURCE}`.execute(db)
  return rows.map(row => row.thread)
}

export async function moveWindow(tx: Tx, id: string, start: number): Promise<void> {
  await tx.updateTable('threads').set({ window_start: start }).where('id', '=', id).execute()
}

/**
 * Returns the agent of a thread's id: a main thread's is `thr_<agent>`, a task's `thr_<agent>.<…>`; no name
 * has a point.
 */
export function agentOfThread(id: string): string {
  const point = id.indexOf('.')
  return id.slice('thr_'.length, point < 0 ? undefined : point)
}

/** Tells whether the thread has ended, so that nothing wakes it any more. */
export async function hasEnded(db: Kysely<Tables>, id: string): Promise<boolean> {
  const row = await db.selectFrom('threads').select('status').where('id', '=', id).executeTakeFirst()
  return row === undefined || ENDED.includes(row.status)
}

const ENDED: readonly ThreadRow['status'][] = ['complete', 'failed', 'cancelled']

/** Returns the result of a task, which fits the schema of its maker; null for none. */
export function taskResultOf({ result_json }: Pick<ThreadRow, 'result_json'>): JsonObject | null {
  return result_json === null ? null : (JSON.parse(result_json) as JsonObject)
}
