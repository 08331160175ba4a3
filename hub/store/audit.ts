import type { Kysely } from 'kysely'
import { type HistoryContent, historyContent } from '../../schemas/inbox.ts'
import type { CycleRow, Tables, ThreadRow, ThreadStatus, ToolCallRow } from './tables.ts'
import { readThread } from './threads.ts'

export interface ThreadFilter {
  agent?: string | undefined
  status?: ThreadStatus | undefined
  archived: boolean
  limit: number
}

export interface ListedThread extends ThreadRow {
  pending: number
  cycles: number
}

/** Lists main threads first, then tasks, the newest first; archived ones only if they are asked for. */
export async function listThreadsOf(db: Kysely<Tables>, filter: ThreadFilter): Promise<ListedThread[]> {
  const rows = await db
    .selectFrom('threads')
    .selectAll()
    .$if(filter.agent !== undefined, query => query.where('agent', '=', filter.agent ?? ''))
    .$if(filter.status !== undefined, query => query.where('status', '=', filter.status ?? 'active'))
    .$if(!filter.archived, query => query.where('archived_at', 'is', null))
    .orderBy('kind')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(filter.limit)
    .execute()
  return withCounts(db, rows)
}

export async function findListed(db: Kysely<Tables>, id: string): Promise<ListedThread | undefined> {
  const row = await readThread(db, id)
  return row && (await withCounts(db, [row]))[0]
}

async function withCounts(db: Kysely<Tables>, rows: readonly ThreadRow[]): Promise<ListedThread[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const count = (table: 'inbox' | 'cycles') =>
    db
      .selectFrom(table)
      .select(eb => ['thread_id', eb.fn.countAll<number>().as('count')])
      .where('thread_id', 'in', ids)
      .groupBy('thread_id')
  const pending = toCounts(await count('inbox').where('cycle_id', 'is', null).execute())
  const cycles = toCounts(await count('cycles').execute())
  return rows.map(row => ({ ...row, pending: pending.get(row.id) ?? 0, cycles: cycles.get(row.id) ?? 0 }))
}

function toCounts(rows: readonly { thread_id: string; count: number }[]): ReadonlyMap<string, number> {
  return new Map(rows.map(row => [row.thread_id, Number(row.count)]))
}

/** Returns the newest cycles of a thread, or those after one, in order. */
export async function cyclesOfThread(
  db: Kysely<Tables>,
  thread: string,
  page: { after?: string | undefined; limit: number },
): Promise<CycleRow[]> {
  const isNewest = page.after === undefined
  const rows = await db
    .selectFrom('cycles')
    .selectAll()
    .where('thread_id', '=', thread)
    .$if(!isNewest, query => query.where('id', '>', page.after ?? ''))
    .orderBy('id', isNewest ? 'desc' : 'asc')
    .limit(page.limit)
    .execute()
  return isNewest ? rows.reverse() : rows
}

export interface AuditEntry {
  cycle: string
  step: number
  at: number
  content: HistoryContent
}

/** Returns the history of these cycles, in order. */
export async function historyOfCycles(
  db: Kysely<Tables>,
  thread: string,
  cycles: readonly string[],
): Promise<AuditEntry[]> {
  if (cycles.length === 0) return []
  const rows = await db
    .selectFrom('history')
    .select(['cycle_id', 'step', 'created_at', 'content_json'])
    .where('thread_id', '=', thread)
    .where('cycle_id', 'in', cycles)
    .orderBy('seq')
    .execute()
  return rows.map(row => ({
    cycle: row.cycle_id,
    step: row.step,
    at: row.created_at,
    content: historyContent.parse(JSON.parse(row.content_json)),
  }))
}

/** Returns the calls of these cycles, in order. */
export async function callsOfCycles(db: Kysely<Tables>, cycles: readonly string[]): Promise<ToolCallRow[]> {
  if (cycles.length === 0) return []
  return db
    .selectFrom('tool_calls')
    .selectAll()
    .where('cycle_id', 'in', cycles)
    .orderBy('cycle_id')
    .orderBy('step')
    .orderBy('position')
    .execute()
}
