import type { Kysely } from 'kysely'
import type { CycleRow, CycleTable, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** The thread's unfinished cycle, if a crash left one. */
export function runningCycle(tx: Tx, thread: string): Promise<CycleRow | undefined> {
  return tx
    .selectFrom('cycles')
    .selectAll()
    .where('thread_id', '=', thread)
    .where('status', '=', 'running')
    .executeTakeFirst()
}

export async function createCycle(
  tx: Tx,
  cycle: Pick<CycleTable, 'id' | 'thread_id' | 'fence' | 'reply_to' | 'started_at'>,
): Promise<CycleRow> {
  const row: CycleRow = {
    ...cycle,
    status: 'running',
    steps: 0,
    input_tokens: 0,
    output_tokens: 0,
    cached_tokens: 0,
    ended_at: null,
    note: null,
  }
  await tx.insertInto('cycles').values(row).execute()
  return row
}

/** Counts a step with the tokens that it took. */
export async function countStep(
  tx: Tx,
  cycle: string,
  usage: { input: number; output: number; cachedInput: number },
): Promise<void> {
  await tx
    .updateTable('cycles')
    .set(eb => ({
      steps: eb('steps', '+', 1),
      input_tokens: eb('input_tokens', '+', usage.input),
      output_tokens: eb('output_tokens', '+', usage.output),
      cached_tokens: eb('cached_tokens', '+', usage.cachedInput),
    }))
    .where('id', '=', cycle)
    .execute()
}

export async function endCycle(
  tx: Tx,
  cycle: string,
  end: { status: 'done' | 'failed'; at: number; note?: string | undefined },
): Promise<void> {
  await tx
    .updateTable('cycles')
    .set({ status: end.status, ended_at: end.at, note: end.note ?? null })
    .where('id', '=', cycle)
    .execute()
}

/** The cycle that took a message from the inbox, if one did already. */
export async function cycleOfMessage(db: Kysely<Tables>, message: string): Promise<CycleRow | undefined> {
  return db
    .selectFrom('inbox')
    .innerJoin('cycles', 'cycles.id', 'inbox.cycle_id')
    .selectAll('cycles')
    .where('inbox.source', '=', 'chat')
    .where('inbox.external_id', '=', message)
    .executeTakeFirst()
}

export interface CycleTotals {
  thread: string
  cycles: number
  lastAt: number | null
}

export async function cycleTotals(db: Kysely<Tables>): Promise<CycleTotals[]> {
  const rows = await db
    .selectFrom('cycles')
    .select(eb => [
      'thread_id as thread',
      eb.fn.countAll<number>().as('cycles'),
      eb.fn.max('started_at').as('lastAt'),
    ])
    .groupBy('thread_id')
    .execute()
  return rows.map(row => ({ thread: row.thread, cycles: Number(row.cycles), lastAt: row.lastAt }))
}

/** Tokens by thread of the cycles that began since `since`. */
export async function tokensSince(db: Kysely<Tables>, since: number): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('cycles')
    .select(eb => [
      'thread_id as thread',
      eb.fn.sum<number>('input_tokens').as('input'),
      eb.fn.sum<number>('output_tokens').as('output'),
    ])
    .where('started_at', '>=', since)
    .groupBy('thread_id')
    .execute()
  return new Map(rows.map(row => [row.thread, Number(row.input) + Number(row.output)]))
}
