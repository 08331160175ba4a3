import type { Kysely } from 'kysely'
import { type HistoryContent, historyContent } from '../../schemas/inbox.ts'
import { HubError } from '../core/errors.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export interface HistoryEntry {
  seq: number
  content: HistoryContent
}

/** What every write of a cycle carries: whose it is and that it still may write. */
export interface Fenced {
  thread: string
  cycle: string
  fence: number
}

/**
 * Begins a write of a cycle: checks the fencing number, renews the lease and reserves `rows` places in the history.
 * Returns the last seq before them. Throws `conflict` where another process took the thread over.
 */
export async function fencedWrite(tx: Tx, fenced: Fenced, rows: number, leaseUntil: number, now: number) {
  const updated = await tx
    .updateTable('threads')
    .set(eb => ({ last_seq: eb('last_seq', '+', rows), lease_until: leaseUntil, updated_at: now }))
    .where('id', '=', fenced.thread)
    .where('fence', '=', fenced.fence)
    .returning('last_seq')
    .executeTakeFirst()
  if (!updated) {
    throw new HubError('conflict', `Thread ${fenced.thread} was taken over while cycle ${fenced.cycle} ran`)
  }
  return updated.last_seq - rows
}

/** Appends at the places after `lastSeq` that `fencedWrite` reserved. */
export async function appendHistory(
  tx: Tx,
  fenced: Fenced,
  lastSeq: number,
  step: number,
  contents: HistoryContent[],
  now: number,
): Promise<HistoryEntry[]> {
  const entries = contents.map((content, index) => ({ seq: lastSeq + 1 + index, content }))
  if (entries.length === 0) return entries
  await tx
    .insertInto('history')
    .values(
      entries.map(entry => ({
        thread_id: fenced.thread,
        seq: entry.seq,
        cycle_id: fenced.cycle,
        step,
        content_json: JSON.stringify(entry.content),
        created_at: now,
      })),
    )
    .execute()
  return entries
}

/** The window: everything from `start` on, in order. */
export async function readHistory(
  db: Kysely<Tables>,
  thread: string,
  start: number,
): Promise<HistoryEntry[]> {
  const rows = await db
    .selectFrom('history')
    .select(['seq', 'content_json'])
    .where('thread_id', '=', thread)
    .where('seq', '>=', start)
    .orderBy('seq')
    .execute()
  return rows.map(row => ({ seq: row.seq, content: historyContent.parse(JSON.parse(row.content_json)) }))
}
