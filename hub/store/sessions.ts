import { type Kysely, sql } from 'kysely'
import { indexHistory } from './search-index.ts'
import type { SessionRow, Tables } from './tables.ts'
import { moveWindow, readThread } from './threads.ts'
import type { Tx } from './writer.ts'

/** The part that leaves the window, from its first to its last seq, and the summary that stands for it. */
export interface EndedSession
  extends Pick<
    SessionRow,
    'thread_id' | 'first_seq' | 'last_seq' | 'tokens' | 'reason' | 'summary' | 'summary_by' | 'head'
  > {
  ended_at: number
  /** JSON of the stored facts that `head` tells. */
  facts_json?: string
}

/** Stores a session with the next number of its thread, and makes its part of the history findable. */
export async function endSession(tx: Tx, session: EndedSession): Promise<void> {
  const { thread_id, first_seq, last_seq } = session
  const part = await tx
    .selectFrom('history')
    .select(eb => [eb.fn.countAll<number>().as('messages'), eb.fn.min('created_at').as('startedAt')])
    .where('thread_id', '=', thread_id)
    .where('seq', '>=', first_seq)
    .where('seq', '<=', last_seq)
    .executeTakeFirstOrThrow()
  const newest = await newestSession(tx, thread_id)
  await tx
    .insertInto('sessions')
    .values({
      ...session,
      facts_json: session.facts_json ?? null,
      number: (newest?.number ?? 0) + 1,
      started_at: part.startedAt ?? session.ended_at,
      messages: Number(part.messages),
    })
    .execute()
  await indexHistory(tx, thread_id, first_seq, last_seq)
}

export function newestSession(db: Kysely<Tables>, thread: string): Promise<SessionRow | undefined> {
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('thread_id', '=', thread)
    .orderBy('number', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst()
}

/** Returns the newest `count` summaries of a thread, oldest first. */
export async function sessionEndingAt(
  db: Kysely<Tables>,
  thread: string,
  lastSeq: number,
): Promise<SessionRow | undefined> {
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('thread_id', '=', thread)
    .where('last_seq', '=', lastSeq)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
}

export async function newestSummaries(db: Kysely<Tables>, thread: string, count: number): Promise<string[]> {
  const rows = await db
    .selectFrom('sessions')
    .select('summary')
    .where('thread_id', '=', thread)
    .orderBy('number', 'desc')
    .limit(count)
    .execute()
  return rows.map(row => row.summary).reverse()
}

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
