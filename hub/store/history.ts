import type { Kysely } from 'kysely'
import { z } from 'zod'
import { type HistoryContent, historyContent, type StepRequest, stepRequest } from '../../schemas/inbox.ts'
import { HubError } from '../core/errors.ts'
import type { HistoryForm, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export interface HistoryEntry {
  seq: number
  content: HistoryContent
  /** Form in which a window shows it, if that is not the whole content. */
  form?: HistoryForm
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

/**
 * Appends entries at the seqs after `lastSeq` that `fencedWrite` reserved. `request` is what the first of them
 * answers.
 */
export async function appendHistory(
  tx: Tx,
  fenced: Fenced,
  lastSeq: number,
  step: number,
  contents: HistoryContent[],
  now: number,
  request?: StepRequest,
): Promise<HistoryEntry[]> {
  const entries = contents.map((content, index) => ({ seq: lastSeq + 1 + index, content }))
  const place = { thread_id: fenced.thread, cycle_id: fenced.cycle, step, created_at: now }
  const toJson = (content: HistoryContent, index: number) =>
    JSON.stringify(index === 0 && request ? { ...content, request } : content)
  const rows = entries.map(({ seq, content }, index) => ({
    ...place,
    seq,
    content_json: toJson(content, index),
  }))
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

/** Returns the rows of a thread from one seq to another, in order. */
export async function historyBetween(
  db: Kysely<Tables>,
  thread: string,
  { from, to }: { from: number; to: number },
): Promise<HistoryEntry[]> {
  const rows = await db
    .selectFrom('history')
    .select(['seq', 'content_json'])
    .where('thread_id', '=', thread)
    .where('seq', '>=', from)
    .where('seq', '<=', to)
    .orderBy('seq')
    .execute()
  return rows.map(({ seq, content_json }) => ({
    seq,
    content: historyContent.parse(JSON.parse(content_json)),
  }))
}

/** Returns the answers of a cycle's steps with what was sent for each; steps of earlier versions lack that. */
export async function stepsOfCycle(
  db: Kysely<Tables>,
  cycle: string,
): Promise<{ seq: number; step: number; content: HistoryContent; request: StepRequest | undefined }[]> {
  const rows = await db
    .selectFrom('history')
    .innerJoin('cycles', 'cycles.id', 'history.cycle_id')
    .select(['seq', 'step', 'content_json'])
    .where('history.cycle_id', '=', cycle)
    .whereRef('history.thread_id', '=', 'cycles.thread_id')
    .orderBy('seq')
    .execute()
  return rows.map(({ seq, step, content_json }) => {
    const value: unknown = JSON.parse(content_json)
    const request = z.object({ request: stepRequest }).safeParse(value).data?.request
    return { seq, step, content: historyContent.parse(value), request }
  })
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
