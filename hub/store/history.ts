import type { Insertable, Kysely } from 'kysely'
import { type HistoryContent, historyContent } from '../../schemas/inbox.ts'
import { HubError } from '../core/errors.ts'
import { statement } from './statement.ts'
import type { HistoryForm, HistoryTable, Tables } from './tables.ts'
import { unlessEnded } from './threads.ts'
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
export async function fencedWrite(tx: Tx, fenced: Fenced, rows: number, leaseUntil: number, now: number) {
  const { rows: updated } = await reserve(tx, { ...fenced, count: rows, leaseUntil, now })
  return placesBefore(updated, rows, fenced)
}

/** Begins the last write of a cycle: like `fencedWrite`, but frees the thread for the next cycle. */
export async function releasingWrite(
  tx: Tx,
  fenced: Fenced & { resting: 'sleeping' | 'waiting' },
  rows: number,
  now: number,
): Promise<number> {
  const { rows: updated } = await reserveAndRelease(tx, { ...fenced, count: rows, now })
  return placesBefore(updated, rows, fenced)
}

function placesBefore([thread]: readonly { last_seq: number }[], rows: number, fenced: Fenced): number {
  if (thread) return thread.last_seq - rows
  throw new HubError('conflict', `Thread ${fenced.thread} was taken over while cycle ${fenced.cycle} ran`)
}

interface Reservation extends Fenced {
  count: number
  now: number
}

const reserve = statement<Reservation & { leaseUntil: number }, { last_seq: number }>((db, args) =>
  db
    .updateTable('threads')
    .set(eb => ({
      last_seq: eb('last_seq', '+', args.count),
      lease_until: args.leaseUntil,
      updated_at: args.now,
    }))
    .where('id', '=', args.thread)
    .where('fence', '=', args.fence)
    .returning('last_seq'),
)

const reserveAndRelease = statement<Reservation & { resting: 'sleeping' | 'waiting' }, { last_seq: number }>(
  (db, args) =>
    db
      .updateTable('threads')
      .set(eb => ({
        last_seq: eb('last_seq', '+', args.count),
        lease_owner: null,
        lease_until: null,
        status: unlessEnded(args.resting),
        updated_at: args.now,
      }))
      .where('id', '=', args.thread)
      .where('fence', '=', args.fence)
      .returning('last_seq'),
)

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
  for (const { seq, content } of entries) {
    await insertEntry(tx, {
      thread_id: fenced.thread,
      seq,
      cycle_id: fenced.cycle,
      step,
      content_json: JSON.stringify(content),
      created_at: now,
      form: 'whole',
    })
  }
  return entries
}

const insertEntry = statement<Insertable<HistoryTable>, unknown>((db, row) =>
  db.insertInto('history').values({
    thread_id: row.thread_id,
    seq: row.seq,
    cycle_id: row.cycle_id,
    step: row.step,
    content_json: row.content_json,
    created_at: row.created_at,
    form: row.form,
  }),
)

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
