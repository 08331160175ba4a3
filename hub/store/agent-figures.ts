import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** Totals of an agent over all its threads. */
export interface AgentFigures {
  /** Threads that are not archived. */
  threads: number
  /** Items that wait in the threads' inboxes. */
  pending: number
  cycles: number
  lastCycleAt: number | null
  /** Tokens in its main thread's window, estimated. */
  windowTokens: number
}

const BYTES_PER_TOKEN = 4

/** Returns the figures of every agent that has a thread, by its name. */
export async function readAgentFigures(db: Kysely<Tables>): Promise<Map<string, AgentFigures>> {
  const threads = await db
    .selectFrom('threads')
    .select(['agent', sql<number>`sum(case when archived_at is null then 1 else 0 end)`.as('threads')])
    .groupBy('agent')
    .execute()
  const pending = new Map((await countPending(db)).map(row => [row.agent, Number(row.pending)]))
  const cycles = new Map((await countCycles(db)).map(row => [row.agent, row]))
  const windows = new Map((await measureWindows(db)).map(row => [row.agent, Number(row.bytes ?? 0)]))
  return new Map(
    threads.map(row => [
      row.agent,
      {
        threads: Number(row.threads),
        pending: pending.get(row.agent) ?? 0,
        cycles: Number(cycles.get(row.agent)?.cycles ?? 0),
        lastCycleAt: cycles.get(row.agent)?.lastAt ?? null,
        windowTokens: Math.ceil((windows.get(row.agent) ?? 0) / BYTES_PER_TOKEN),
      },
    ]),
  )
}

function countPending(db: Kysely<Tables>) {
  return db
    .selectFrom('inbox')
    .innerJoin('threads', 'threads.id', 'inbox.thread_id')
    .select(eb => ['threads.agent', eb.fn.countAll<number>().as('pending')])
    .where('inbox.cycle_id', 'is', null)
    .groupBy('threads.agent')
    .execute()
}

function countCycles(db: Kysely<Tables>) {
  return db
    .selectFrom('cycles')
    .innerJoin('threads', 'threads.id', 'cycles.thread_id')
    .select(eb => [
      'threads.agent',
      eb.fn.countAll<number>().as('cycles'),
      eb.fn.max('cycles.started_at').as('lastAt'),
    ])
    .groupBy('threads.agent')
    .execute()
}

function measureWindows(db: Kysely<Tables>) {
  return db
    .selectFrom('threads')
    .innerJoin('history', join =>
      join
        .onRef('history.thread_id', '=', 'threads.id')
        .onRef('history.seq', '>=', 'threads.window_start')
        .on('history.form', '=', 'whole'),
    )
    .select(['threads.agent', sql<number | null>`sum(length(history.content_json))`.as('bytes')])
    .where('threads.kind', '=', 'main')
    .groupBy('threads.agent')
    .execute()
}
