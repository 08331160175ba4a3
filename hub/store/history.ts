import type { Kysely } from 'kysely'
import { type HistoryContent, historyContent } from '../../schemas/inbox.ts'
import { HubError } from '../core/errors.ts'
import type { HistoryForm, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export interface HistoryEntry {
  seq: number
  content: HistoryContent
}

/** The part of every write of a cycle that says whose it is, and that the cycle still may write. */
export interface Fenced {
  thread: string
  cycle: string
  fence: number
}

/**
 * Begins a write of a cycle: checks the fencing number, renews the lease and reserves `rows` seqs in the
 * history. Returns the last seq before them. Throws `conflict` if another process took the thread over.
 */
export async function fencedWrite(
  tx: Tx,
  { thread, cycle, fence }: Fenced,
  rows: number,
  leaseUntil: number,
  now: number,
): Promise<number> {
  const row = await tx
    .updateTable('threads')
    .set(eb => ({ last_seq: eb('last_seq', '+', rows), lease_until: leaseUntil, updated_at: now }))
    .where('id', '=', thread)
    .where('fence', '=', fence)
    .returning('last_seq')
    .executeTakeFirst()
  if (row) return row.last_seq - rows
  throw new HubError('conflict', `Thread ${thread} was taken over while cycle ${cycle} ran`)
}

/** Appends entries at the seqs after `lastSeq` that `fencedWrite` reserved. */
export async function appendHistory(
  tx: Tx,
  fenced: Fenced,
  lastSeq: number,
  step: number,
  contents: HistoryContent[],
  now: number,
): Promise<HistoryEntry[]> {
  const entries = contents.map((content, index) => ({ seq: lastSeq + 1 + index, content }))
  const place = { thread_id: fenced.thread, cycle_id: fenced.cycle, step, created_at: now }
  const rows = entries.map(({ seq, content }) => ({ ...place, seq, content_json: JSON.stringify(content) }))
  if (rows.length > 0) await tx.insertInto('history').values(rows).execute()
  return entries
}

/** Reads the window: everything from `start` on, in order. */
export async function readHistory(
  db: Kysely<Tables>,
  thread: string,
  start: number,
): Promise<(HistoryEntry & { form: HistoryForm })[]> {
  const rows = await db
    .selectFrom('history')
    .select(['seq', 'content_json', 'form'])
    .where('thread_id', '=', thread)
    .where('seq', '>=', start)
    .orderBy('seq')
    .execute()
  return rows.map(row => ({
    seq: row.seq,
    content: historyContent.parse(JSON.parse(row.content_json)),
    form: row.form,
  }))
}

/** Sets how the window shows some rows from now on. */
export async function setForm(tx: Tx, thread: string, seqs: number[], form: HistoryForm): Promise<void> {
  await tx
    .updateTable('history')
    .set({ form })
    .where('thread_id', '=', thread)
    .where('seq', 'in', seqs)
    .execute()
}
