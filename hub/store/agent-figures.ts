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
  const { rows } = await sql<Omit<AgentFigures, 'windowTokens'> & { agent: string; bytes: number | null }>`
    select agent, sum(case when archived_at is null then 1 else 0 end) as threads,
      sum((select count(*) from inbox where thread_id = threads.id and cycle_id is null)) as pending,
      sum((select count(*) from cycles where thread_id = threads.id)) as cycles,
      max((select max(started_at) from cycles where thread_id = threads.id)) as "lastCycleAt",
      sum(case when kind = 'main' then (
        select sum(length(content_json)) from history
        where thread_id = threads.id and seq >= window_start and form = 'whole') end) as bytes
    from threads group by agent`.execute(db)
  return new Map(
    rows.map(({ agent, bytes, ...figures }) => [
      agent,
      { ...figures, windowTokens: Math.ceil((bytes ?? 0) / BYTES_PER_TOKEN) },
    ]),
  )
}
