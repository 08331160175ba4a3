import { hash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import type { ToolCallStatus } from '../../schemas/chat.ts'
import { storedPicture } from '../../schemas/picture.ts'
import type { Power } from '../../schemas/power.ts'
import { record } from './audit-log.ts'
import type { NewToolCall, Tables, ToolCallRow } from './tables.ts'
import { agentOfThread } from './threads.ts'
import type { Tx } from './writer.ts'

/** The result of a call, as the model and people get it. */
export const callResult = z.object({
  text: z.string(),
  isError: z.boolean(),
  structured: z.unknown().optional(),
  images: z.array(storedPicture).readonly().optional(),
})
export type CallResult = z.infer<typeof callResult>

/** The part of a result that the ledger keeps when the history holds the result. */
const movedResult = z.strictObject({ inHistory: z.string() })

/** Characters of JSON below which a result is kept twice: one more write costs more than its few bytes. */
const SHORT_RESULT = 1_000

/** Records calls before any of them runs. */
export async function planCalls(tx: Tx, calls: NewToolCall[]): Promise<void> {
  if (calls.length > 0) await tx.insertInto('tool_calls').values(calls).execute()
}

/** Makes the call wait for a person's yes; `result` says so to the step that asked for it. */
export async function waitCall(tx: Tx, id: string, approval: string, result: CallResult): Promise<void> {
  await tx
    .updateTable('tool_calls')
    .set({ status: 'waiting', approval_id: approval, result_json: JSON.stringify(result) })
    .where('id', '=', id)
    .execute()
}

/** Marks calls as planned again that were recorded as started and were not sent after all. */
export async function unstartCalls(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx
    .updateTable('tool_calls')
    .set({ status: 'planned', started_at: null })
    .where('id', 'in', ids)
    .where('status', '=', 'started')
    .execute()
}

/** Marks a call as planned, since a person said yes. */
export async function allowCall(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('tool_calls').set({ status: 'planned' }).where('id', '=', id).execute()
}

/**
 * Tells whether the thread made the same call before, with an unknown outcome. A person's yes to its repeat
 * ends the doubt, unless the outcome of that one is unknown too.
 */
export async function isDoubtful(
  tx: Tx,
  call: { thread: string; tool: string; hash: string },
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from tool_calls
    where thread_id = ${call.thread} and tool = ${call.tool} and status = 'unknown'
      and arguments_hash = ${call.hash}
      and not exists (
        select 1 from approvals
        where approvals.thread_id = tool_calls.thread_id and approvals.tool = tool_calls.tool
          and approvals.arguments_hash = tool_calls.arguments_hash and approvals.status = 'approved'
          and approvals.decided_at > tool_calls.started_at)
    limit 1`.execute(tx)
  return rows.length > 0
}

/** Source of the item that tells a retry of a dead letter which calls had run. */
export const NOTE_SOURCE = 'dead_letter'

/**
 * Tells whether the same call had succeeded in a dead letter that the cycle retries. A cycle is a retry if it
 * took the retry's note, or the end of an approval for which a retry asked. A note that still waits counts
 * already.
 */
export async function hadSucceeded(
  tx: Tx,
  call: { thread: string; cycle: string; tool: string; hash: string },
): Promise<boolean> {
  const { rows } = await sql`
    with recursive retry (cycle_id) as (
      select id from cycles where id = ${call.cycle} union
      select approvals.cycle_id from retry
        join inbox on inbox.cycle_id = retry.cycle_id and inbox.source = 'approval'
        join approvals on approvals.id = inbox.external_id)
    select 1 from inbox as note
    join dead_letters on dead_letters.id = note.external_id
    join tool_calls on tool_calls.cycle_id = dead_letters.cycle_id
    where note.source = ${NOTE_SOURCE} and note.thread_id = ${call.thread}
      and (note.cycle_id is null or note.cycle_id in (select cycle_id from retry))
      and tool_calls.tool = ${call.tool} and tool_calls.arguments_hash = ${call.hash}
      and tool_calls.status = 'ok'
    limit 1`.execute(tx)
  return rows.length > 0
}

/** Records that a planned call begins; returns false if it is not planned any more. */
export async function startCall(tx: Tx, id: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('tool_calls')
    .set({ status: 'started', started_at: now })
    .where('id', '=', id)
    .where('status', '=', 'planned')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Records the end of a call, in the audit too. A question in the midst of a call is no call, and has no end. */
export async function finishCall(
  tx: Tx,
  id: string,
  end: { status: Exclude<ToolCallStatus, 'planned' | 'started'>; result: CallResult; now: number },
): Promise<void> {
  const { status, result, now } = end
  const row = await tx
    .updateTable('tool_calls')
    .set({ status, result_json: JSON.stringify(result), ended_at: now })
    .where('id', '=', id)
    .returning(['thread_id', 'tool', 'started_at', 'arguments_hash'])
    .returning(sql<Power | null>`(select power from cycles where id = tool_calls.cycle_id)`.as('power'))
    .executeTakeFirst()
  if (!row) return
  await record(tx, {
    at: now,
    kind: 'call',
    actor: `agent:${agentOfThread(row.thread_id)}`,
    door: 'agent',
    power: row.power,
    tool: row.tool,
    outcome: status,
    call: id,
    details: {
      thread: row.thread_id,
      argumentsHash: row.arguments_hash,
      ...(row.started_at === null ? {} : { ms: now - row.started_at }),
    },
  })
}

/** Returns the calls of one step of a cycle in the order in which the model asked for them. */
export function callsOfStep(db: Kysely<Tables>, cycle: string, step: number): Promise<ToolCallRow[]> {
  return db
    .selectFrom('tool_calls')
    .selectAll()
    .where('cycle_id', '=', cycle)
    .where('step', '=', step)
    .orderBy('position')
    .execute()
}

/** Tells whether a call of the tool failed in the thread. */
export async function hasFailedCall(db: Kysely<Tables>, thread: string, tool: string): Promise<boolean> {
  const row = await db
    .selectFrom('tool_calls')
    .select('id')
    .where('thread_id', '=', thread)
    .where('tool', '=', tool)
    .where('status', '=', 'error')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns all calls of a cycle, in the order in which the model asked for them. */
export function callsOfCycle(db: Kysely<Tables>, cycle: string): Promise<ToolCallRow[]> {
  return db
    .selectFrom('tool_calls')
    .selectAll()
    .where('cycle_id', '=', cycle)
    .orderBy('step')
    .orderBy('position')
    .execute()
}

/** Returns the result of a call that has one. A result that `keepInHistory` moved is in the history. */
export function resultOf(row: Pick<ToolCallRow, 'result_json'>): CallResult {
  if (row.result_json === null) return { text: 'No result was recorded for this call.', isError: true }
  const value: unknown = JSON.parse(row.result_json)
  if (movedResult.safeParse(value).success)
    return { text: 'The result is in the history of the thread.', isError: false }
  return callResult.parse(value)
}

/**
 * Replaces results that the history holds from this transaction on by what tells them apart. A call that
 * needed an approval keeps its own result, which is in no history.
 */
export async function keepInHistory(tx: Tx, rows: readonly ToolCallRow[]): Promise<void> {
  for (const { id, result_json, approval_id } of rows) {
    if (result_json === null || approval_id !== null || result_json.length < SHORT_RESULT) continue
    const moved = JSON.stringify({ inHistory: fingerprintOf(result_json) })
    await tx.updateTable('tool_calls').set({ result_json: moved }).where('id', '=', id).execute()
  }
}

/** Returns equal fingerprints for equal results, whether the ledger holds them or the history. */
export function fingerprintOf(resultJson: string): string {
  const moved = resultJson.length < SHORT_RESULT ? movedResult.safeParse(JSON.parse(resultJson)) : undefined
  return moved?.success ? moved.data.inHistory : hash('sha256', resultJson)
}
