import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export interface Suspension {
  thread: string
  cycle: string
  /** Time at which the cycle goes on at the latest. */
  until: number
  /** Time since which its provider cannot be reached, or the words for another reason. */
  why: { suspendedAt: number } | { note: string }
}

/**
 * Makes the cycle wait, for its provider or for the end of a limit. A cycle that was asked to end meanwhile
 * does not wait: the requester wakes it.
 */
export async function suspendCycle(tx: Tx, { thread, cycle, until, why }: Suspension): Promise<void> {
  await sql`
    update threads set not_before = ${until}, status = 'waiting'
    where id = ${thread} and ended_at is null
      and not exists (select 1 from cycles where id = ${cycle} and stop_requested_by is not null)`.execute(tx)
  await tx
    .updateTable('cycles')
    .set(eb => ('note' in why ? why : { parked_at: eb.fn.coalesce('parked_at', eb.val(why.suspendedAt)) }))
    .where('id', '=', cycle)
    .execute()
}

/** Clears the note of a cycle that waited for the end of a limit and goes on. */
export async function forgetNote(tx: Tx, cycle: string): Promise<void> {
  await tx.updateTable('cycles').set({ note: null }).where('id', '=', cycle).execute()
}

export async function resumeCycle(tx: Tx, cycle: string): Promise<void> {
  await tx.updateTable('cycles').set({ parked_at: null }).where('id', '=', cycle).execute()
}

export interface WaitingThread {
  thread: string
  notBefore: number
  /** Time since which its cycle is suspended; null for a thread that waits for something else. */
  suspendedAt: number | null
}

/** Returns threads that were to wait until `now` at most, the longest suspended first. */
export async function dueThreads(db: Kysely<Tables>, now: number): Promise<WaitingThread[]> {
  const { rows } = await sql<WaitingThread>`
    select threads.id as thread, not_before as "notBefore", parked_at as "suspendedAt" from threads
    left join cycles on cycles.thread_id = threads.id and cycles.status = 'running'
    where not_before <= ${now} order by parked_at nulls first`.execute(db)
  return rows
}

/** Returns the earliest time before which some thread may not run; undefined if none waits. */
export async function earliestNotBefore(db: Kysely<Tables>): Promise<number | undefined> {
  const { rows } = await sql<{ at: number | null }>`
    select min(not_before) as at from threads where not_before is not null`.execute(db)
  return rows[0]?.at ?? undefined
}

export async function setNotBefore(tx: Tx, threads: readonly string[], at: number | null): Promise<void> {
  if (threads.length === 0) return
  await tx.updateTable('threads').set({ not_before: at }).where('id', 'in', threads).execute()
}

/** Returns threads that begin nothing until after `now`: their items wait for their provider or a limit. */
export async function laterThreads(db: Kysely<Tables>, now: number): Promise<string[]> {
  const rows = await db.selectFrom('threads').select('id').where('not_before', '>', now).execute()
  return rows.map(({ id }) => id)
}

/** Returns the threads of all suspended cycles. */
export async function suspendedThreads(db: Kysely<Tables>): Promise<string[]> {
  const rows = await db
    .selectFrom('cycles')
    .select('thread_id')
    .where('status', '=', sql.lit('running'))
    .where('parked_at', 'is not', null)
    .orderBy('parked_at')
    .execute()
  return rows.map(row => row.thread_id)
}
