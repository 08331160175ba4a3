import { type ExpressionBuilder, type Insertable, type Kysely, sql } from 'kysely'
import type { Power } from '../../schemas/power.ts'
import { settleEventsOf } from './events.ts'
import type { CycleRow, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export function readCycle(db: Kysely<Tables>, id: string): Promise<CycleRow> {
  return db.selectFrom('cycles').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

/** Returns the first two cycles whose ids begin so, also without "cyc_". An id that is given whole comes first. */
export function findCycles(db: Kysely<Tables>, beginning: string): Promise<CycleRow[]> {
  return db
    .selectFrom('cycles')
    .selectAll()
    .where(({ eb, or }) => or([eb('id', 'like', `${beginning}%`), eb('id', 'like', `cyc_${beginning}%`)]))
    .orderBy('id')
    .limit(2)
    .execute()
}

/** Returns the power of a cycle, and whether it had read text from outside; the least if the cycle is gone. */
export async function powerOfCycle(
  db: Kysely<Tables>,
  id: string,
): Promise<{ power: Power; hasReadForeign: boolean }> {
  const row = await db
    .selectFrom('cycles')
    .select(['power', 'read_foreign'])
    .where('id', '=', id)
    .executeTakeFirst()
  return { power: row?.power ?? 'foreign', hasReadForeign: row?.read_foreign !== 0 }
}

/** Records that a cycle has read text that comes from outside. */
export async function markReadForeign(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('cycles').set({ read_foreign: 1 }).where('id', '=', id).execute()
}

/** Returns the cycle of a thread that has not ended; undefined if there is none. */
export function runningCycle(db: Kysely<Tables>, thread: string): Promise<CycleRow | undefined> {
  return db
    .selectFrom('cycles')
    .selectAll()
    .where('thread_id', '=', thread)
    .where('status', '=', sql.lit('running'))
    .executeTakeFirst()
}

export function createCycle(
  tx: Tx,
  cycle: Pick<
    Insertable<Tables['cycles']>,
    'id' | 'thread_id' | 'fence' | 'reply_to' | 'power' | 'read_foreign' | 'started_at'
  >,
): Promise<CycleRow> {
  const nothing = { steps: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0 }
  return tx
    .insertInto('cycles')
    .values({ ...cycle, ...nothing, status: 'running' })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export interface Usage {
  input: number
  output: number
  cachedInput: number
  /** Money in millionths. */
  costMicros: number
}

type CycleColumns = ExpressionBuilder<Tables, 'cycles'>

function withCall(eb: CycleColumns, usage: Usage) {
  return {
    input_tokens: eb('input_tokens', '+', usage.input),
    output_tokens: eb('output_tokens', '+', usage.output),
    cached_tokens: eb('cached_tokens', '+', usage.cachedInput),
    cost_micros: eb('cost_micros', '+', usage.costMicros),
  }
}

/** Counts a step with the tokens that it used. */
export async function countStep(tx: Tx, cycle: string, usage: Usage): Promise<void> {
  await tx
    .updateTable('cycles')
    .set(eb => ({ ...withCall(eb, usage), steps: eb('steps', '+', 1), attempts: 1 }))
    .where('id', '=', cycle)
    .execute()
}

/** Counts what a call without a step used: a summary, a call that was cut, one that a stop ended. */
export async function countCall(tx: Tx, cycle: string, usage: Usage): Promise<void> {
  await tx
    .updateTable('cycles')
    .set(eb => withCall(eb, usage))
    .where('id', '=', cycle)
    .execute()
}

export async function endCycle(
  tx: Tx,
  cycle: string,
  end: { status: 'done' | 'failed' | 'stopped' | 'dead'; at: number; note?: string | undefined },
): Promise<void> {
  await tx
    .updateTable('cycles')
    .set({ status: end.status, ended_at: end.at, note: end.note ?? null })
    .where('id', '=', cycle)
    .execute()
  await settleEventsOf(tx, cycle)
}

/** Returns when the newest cycle of a thread ended; undefined before its first. */
export async function lastCycleEnd(db: Kysely<Tables>, thread: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('cycles')
    .select('ended_at')
    .where('thread_id', '=', thread)
    .where('ended_at', 'is not', null)
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.ended_at ?? undefined
}

/**
 * Tells whether a thread's last cycle left text from outside that none of its steps has seen, because its last
 * step made calls, or it had no step.
 */
export async function leftForeignUnseen(db: Kysely<Tables>, thread: string): Promise<boolean> {
  const last = await db
    .selectFrom('cycles')
    .select(['id', 'steps', 'power', 'read_foreign'])
    .where('thread_id', '=', thread)
    .orderBy('started_at', 'desc')
    .orderBy('fence', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!last || (last.power !== 'foreign' && last.read_foreign === 0)) return false
  if (last.steps === 0) return true
  const unseen = await db
    .selectFrom('tool_calls')
    .select('id')
    .where('cycle_id', '=', last.id)
    .where('step', '=', last.steps)
    .limit(1)
    .executeTakeFirst()
  return unseen !== undefined
}

/** Sends the cycle's next text to another conversation. */
export async function redirectCycle(tx: Tx, cycle: string, conversation: string): Promise<void> {
  await tx.updateTable('cycles').set({ reply_to: conversation }).where('id', '=', cycle).execute()
}

type CycleOfMessage = { thread: string } & {
  [Column in 'id' | 'status' | 'note' | 'input_tokens' | 'output_tokens']: CycleRow[Column] | null
}

/** Returns the cycles that took a message, one for each agent; its columns are null while it still waits. */
export function cyclesOfMessage(db: Kysely<Tables>, message: string): Promise<CycleOfMessage[]> {
  return db
    .selectFrom('inbox')
    .leftJoin('cycles', 'cycles.id', 'inbox.cycle_id')
    .select(['inbox.thread_id as thread', 'cycles.id', 'cycles.status', 'cycles.note'])
    .select(['cycles.input_tokens', 'cycles.output_tokens'])
    .where('inbox.source', '=', 'chat')
    .where('inbox.external_id', '=', message)
    .orderBy('inbox.seq')
    .execute()
}
