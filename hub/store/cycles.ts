import { type Kysely, sql } from 'kysely'
import { settleEventsOf } from './events.ts'
import { QUIET_SOURCE } from './inbox.ts'
import { statement } from './statement.ts'
import type { CycleRow, CycleTable, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export function readCycle(db: Kysely<Tables>, id: string): Promise<CycleRow> {
  return db.selectFrom('cycles').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

/** Returns the id of a thread's unfinished cycle, and the seq of an item that waits in its inbox. */
export async function workOf(
  tx: Tx,
  thread: string,
): Promise<{ running: string | null; waiting: number | null }> {
  const { rows } = await selectWork(tx, { thread })
  return rows[0] ?? { running: null, waiting: null }
}

const selectWork = statement<{ thread: string }, { running: string | null; waiting: number | null }>(
  (db, { thread }) =>
    db.selectNoFrom(eb => [
      eb
        .selectFrom('cycles')
        .select('id')
        .where('thread_id', '=', thread)
        .where('status', '=', sql.lit('running'))
        .as('running'),
      eb
        .selectFrom('inbox')
        .select('seq')
        .where('thread_id', '=', thread)
        .where('cycle_id', 'is', null)
        .where('source', '!=', sql.lit(QUIET_SOURCE))
        .limit(sql.lit(1))
        .as('waiting'),
    ]),
)

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
    attempts: 1,
    cost_micros: 0,
    model: null,
    parked_at: null,
    stop_requested_by: null,
  }
  await insertCycle(tx, row)
  return row
}

const insertCycle = statement<CycleRow, unknown>((db, row) =>
  db.insertInto('cycles').values({
    id: row.id,
    thread_id: row.thread_id,
    status: row.status,
    fence: row.fence,
    reply_to: row.reply_to,
    steps: row.steps,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    cached_tokens: row.cached_tokens,
    started_at: row.started_at,
    ended_at: row.ended_at,
    note: row.note,
    attempts: row.attempts,
    cost_micros: row.cost_micros,
    model: row.model,
    parked_at: row.parked_at,
    stop_requested_by: row.stop_requested_by,
  }),
)

export interface Usage {
  input: number
  output: number
  cachedInput: number
  /** Money in millionths. */
  costMicros: number
}

/** Counts a step with the tokens that it used. */
export async function countStep(tx: Tx, cycle: string, usage: Usage): Promise<void> {
  await addStep(tx, { ...usage, cycle })
}

const addStep = statement<Usage & { cycle: string }, unknown>((db, args) =>
  db
    .updateTable('cycles')
    .set(eb => ({
      steps: eb('steps', '+', sql.lit(1)),
      attempts: sql.lit(1),
      input_tokens: eb('input_tokens', '+', args.input),
      output_tokens: eb('output_tokens', '+', args.output),
      cached_tokens: eb('cached_tokens', '+', args.cachedInput),
      cost_micros: eb('cost_micros', '+', args.costMicros),
    }))
    .where('id', '=', args.cycle),
)

/** Counts what a call without a step used: a summary, a call that was cut, one that a stop ended. */
export async function countCall(tx: Tx, cycle: string, usage: Usage): Promise<void> {
  await tx
    .updateTable('cycles')
    .set(eb => ({
      input_tokens: eb('input_tokens', '+', usage.input),
      output_tokens: eb('output_tokens', '+', usage.output),
      cached_tokens: eb('cached_tokens', '+', usage.cachedInput),
      cost_micros: eb('cost_micros', '+', usage.costMicros),
    }))
    .where('id', '=', cycle)
    .execute()
}

/** Counts the last step of a cycle and ends the cycle as done. */
export async function endCycleWithStep(tx: Tx, cycle: string, usage: Usage, at: number): Promise<void> {
  await addLastStep(tx, { ...usage, cycle, at })
}

const addLastStep = statement<Usage & { cycle: string; at: number }, unknown>((db, args) =>
  db
    .updateTable('cycles')
    .set(eb => ({
      status: 'done' as const,
      ended_at: args.at,
      attempts: sql.lit(1),
      steps: eb('steps', '+', sql.lit(1)),
      input_tokens: eb('input_tokens', '+', args.input),
      output_tokens: eb('output_tokens', '+', args.output),
      cached_tokens: eb('cached_tokens', '+', args.cachedInput),
      cost_micros: eb('cost_micros', '+', args.costMicros),
    }))
    .where('id', '=', args.cycle),
)

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
    .limit(sql.lit(1))
    .executeTakeFirst()
  return row?.ended_at ?? undefined
}

/** Sends the cycle's next text to another conversation. */
export async function redirectCycle(tx: Tx, cycle: string, conversation: string): Promise<void> {
  await tx.updateTable('cycles').set({ reply_to: conversation }).where('id', '=', cycle).execute()
}

/** Returns the cycles that took a message, one for each agent; a status is null while it still waits. */
export function cyclesOfMessage(
  db: Kysely<Tables>,
  message: string,
): Promise<{ thread: string; id: string | null; status: CycleRow['status'] | null; note: string | null }[]> {
  return db
    .selectFrom('inbox')
    .leftJoin('cycles', 'cycles.id', 'inbox.cycle_id')
    .select(['inbox.thread_id as thread', 'cycles.id', 'cycles.status', 'cycles.note'])
    .where('inbox.source', '=', 'chat')
    .where('inbox.external_id', '=', message)
    .orderBy('inbox.seq')
    .execute()
}
