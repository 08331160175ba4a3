import { sql } from 'kysely'
import { endSession } from './sessions.ts'
import { moveWindow, readThread } from './threads.ts'
import type { Tx } from './writer.ts'

const BYTES_PER_TOKEN = 4

/**
 * Turns the history of an ended task into a session with the task's summary, so that a search finds it; the
 * window is empty from now on. Does nothing to a task that has not ended, and to one that failed, which may
 * be tried again.
 */
export async function closeTaskHistory(tx: Tx, id: string, now: number): Promise<void> {
  const thread = await readThread(tx, id)
  if (!thread || thread.ended_at === null || thread.status === 'failed') return
  const { window_start: first, last_seq: last, summary } = thread
  if (last < first) return
  const size = await tx
    .selectFrom('history')
    .select(sql<number | null>`sum(length(content_json))`.as('bytes'))
    .where('thread_id', '=', id)
    .where('seq', '>=', first)
    .executeTakeFirst()
  await endSession(tx, {
    thread_id: id,
    first_seq: first,
    last_seq: last,
    ended_at: now,
    tokens: Math.ceil(Number(size?.bytes ?? 0) / BYTES_PER_TOKEN),
    reason: 'ended',
    summary: summary ?? '',
    summary_by: 'task',
    head: null,
  })
  await moveWindow(tx, id, last + 1)
}
