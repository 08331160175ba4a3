import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

const BATCH = 500
const CYCLES = 100

/**
 * Deletes the oldest rows of a thread that nobody needs: its history before the window with its part of the
 * index, all sessions but the newest, cycles that ended with their calls; for a task that ended long ago
 * everything. Returns how many of a first few it deleted; it is called again until that is 0.
 */
export async function pruneThread(tx: Tx, id: string, before: number): Promise<number> {
  const thread = await tx
    .selectFrom('threads')
    .select(['window_start', 'kind', 'ended_at'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!thread) return 0
  const isOver = thread.kind === 'task' && thread.ended_at !== null && thread.ended_at < before
  const windowStart = isOver ? Number.MAX_SAFE_INTEGER : thread.window_start
  const rows = await pruneHistory(tx, id, before, windowStart)
  if (rows > 0) return rows
  const cycles = await pruneCycles(tx, id, before, isOver)
  if (cycles > 0) return cycles
  const sessions = await pruneSessions(tx, id, before, isOver)
  if (isOver && !(await hasCycles(tx, id))) await deleteThread(tx, id)
  return sessions
}

async function pruneHistory(tx: Tx, thread: string, before: number, windowStart: number): Promise<number> {
  const oldest = await tx
    .selectFrom('history')
    .select(['seq', 'created_at'])
    .where('thread_id', '=', thread)
    .where('seq', '<', windowStart)
    .orderBy('seq')
    .limit(BATCH)
    .execute()
  const keep = oldest.findIndex(row => row.created_at >= before)
  const last = oldest.at(keep === -1 ? -1 : keep - 1)
  if (keep === 0 || !last) return 0
  await tx.deleteFrom('history_texts').where('thread_id', '=', thread).where('seq', '<=', last.seq).execute()
  const { numDeletedRows } = await tx
    .deleteFrom('history')
    .where('thread_id', '=', thread)
    .where('seq', '<=', last.seq)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Deletes ended cycles but the newest of a thread that goes on, which tells since when it sleeps. */
async function pruneCycles(tx: Tx, thread: string, before: number, isOver: boolean): Promise<number> {
  const cycles = await tx
    .selectFrom('cycles')
    .select('id')
    .where('thread_id', '=', thread)
    .where('started_at', '<', before)
    .where('ended_at', '<', before)
    .where('status', '<>', 'running')
    .where('id', 'not in', tx.selectFrom('dead_letters').select('cycle_id').where('status', '=', 'open'))
    .where('id', 'not in', tx.selectFrom('approvals').select('cycle_id').where('status', '=', 'open'))
    .$if(!isOver, query => query.where('started_at', '<', newestStart(tx, thread)))
    .orderBy('started_at')
    .limit(CYCLES)
    .execute()
  if (cycles.length === 0) return 0
  const ids = cycles.map(cycle => cycle.id)
  await tx.deleteFrom('tool_calls').where('cycle_id', 'in', ids).execute()
  await tx.deleteFrom('cycles').where('id', 'in', ids).execute()
  return ids.length
}

function newestStart(db: Kysely<Tables>, thread: string) {
  return db
    .selectFrom('cycles')
    .select(eb => eb.fn.max('started_at').as('newest'))
    .where('thread_id', '=', thread)
}

/** Deletes old sessions but the newest of a thread that goes on, with which its window begins. */
async function pruneSessions(tx: Tx, thread: string, before: number, isOver: boolean): Promise<number> {
  const newest = tx
    .selectFrom('sessions')
    .select(eb => eb.fn.max('number').as('number'))
    .where('thread_id', '=', thread)
  const { numDeletedRows } = await tx
    .deleteFrom('sessions')
    .where('thread_id', '=', thread)
    .where('ended_at', '<', before)
    .$if(!isOver, query => query.where('number', '<', newest))
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

async function hasCycles(db: Kysely<Tables>, thread: string): Promise<boolean> {
  const row = await db
    .selectFrom('cycles')
    .select(sql`1`.as('there'))
    .where('thread_id', '=', thread)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

async function deleteThread(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('context').where('scope', '=', 'thread').where('owner', '=', id).execute()
  await tx.deleteFrom('inbox').where('thread_id', '=', id).where('cycle_id', 'is not', null).execute()
  await tx.deleteFrom('threads').where('id', '=', id).execute()
}
