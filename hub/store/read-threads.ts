import { type Kysely, sql } from 'kysely'
import { type HistoryContent, historyContent } from '../../schemas/inbox.ts'
import type { CycleRow, Tables, ThreadRow, ThreadStatus, ToolCallRow } from './tables.ts'

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
export function listThreadsOf(db: Kysely<Tables>, filter: ThreadFilter): Promise<ListedThread[]> {
  return selectListed(db)
    .$if(filter.agent !== undefined, query => query.where('agent', '=', filter.agent ?? ''))
    .$if(filter.status !== undefined, query => query.where('status', '=', filter.status ?? 'active'))
    .$if(!filter.archived, query => query.where('archived_at', 'is', null))
    .orderBy('kind')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(filter.limit)
    .execute()
}

export function findListed(db: Kysely<Tables>, id: string): Promise<ListedThread | undefined> {
  return selectListed(db).where('id', '=', id).executeTakeFirst()
}

function selectListed(db: Kysely<Tables>) {
  return db
    .selectFrom('threads')
    .selectAll()
    .select([
      sql<number>`(select count(*) from inbox where thread_id = threads.id and cycle_id is null)`.as(
        'pending',
      ),
      sql<number>`(select count(*) from cycles where thread_id = threads.id)`.as('cycles'),
    ])
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

/** Returns one call of an agent by its id. */
export function findCall(db: Kysely<Tables>, id: string): Promise<ToolCallRow | undefined> {
  return db.selectFrom('tool_calls').selectAll().where('id', '=', id).executeTakeFirst()
}
