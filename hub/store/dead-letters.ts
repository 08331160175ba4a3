import { type Kysely, sql } from 'kysely'
import { historyContent } from '../../schemas/inbox.ts'
import { HubError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { truncate } from '../core/text.ts'
import { powerOfCycle } from './cycles.ts'
import { postItem } from './inbox.ts'
import { NOTE_SOURCE } from './ledger.ts'
import type { DeadLetterRow, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** The error that caused a dead letter. */
export interface LetterError {
  code: string
  status?: number | undefined
  message: string
}

/** A cycle that failed for good, with the items that it had taken and its calls. */
export interface DeadLetter {
  id: string
  agent: string
  thread: string
  cycle: string
  status: DeadLetterRow['status']
  reason: string
  error: LetterError | undefined
  retryable: boolean
  at: number
  decidedAt: number | null
  decidedBy: string | null
  conversation: string | null
  steps: number
  items: { kind: string; origin: string; text: string; at: number }[]
  calls: { tool: string; arguments: string; status: string }[]
}

export type NewDeadLetter = Pick<
  DeadLetter,
  'id' | 'cycle' | 'thread' | 'agent' | 'reason' | 'retryable' | 'at'
> & { error: LetterError }

/** Adds a dead letter. The cycle's batch leaves the window but for a line that says so. */
export async function addDeadLetter(tx: Tx, letter: NewDeadLetter): Promise<void> {
  await tx
    .insertInto('dead_letters')
    .values({
      id: letter.id,
      cycle_id: letter.cycle,
      thread_id: letter.thread,
      agent: letter.agent,
      status: 'open',
      reason: letter.reason,
      error_json: JSON.stringify(letter.error),
      retryable: letter.retryable ? 1 : 0,
      created_at: letter.at,
    })
    .execute()
  const rows = tx.updateTable('history').where('thread_id', '=', letter.thread)
  await rows.set({ form: 'hidden' }).where('cycle_id', '=', letter.cycle).execute()
  await rows
    .set({ form: 'stub' })
    .where('seq', '=', eb =>
      eb
        .selectFrom('history as batch')
        .select(each => each.fn.min('batch.seq').as('seq'))
        .where('batch.thread_id', '=', letter.thread)
        .where('batch.cycle_id', '=', letter.cycle),
    )
    .execute()
}

/** Lists the dead letters, the newest first. */
export async function listDeadLetters(
  db: Kysely<Tables>,
  status: DeadLetterRow['status'] | undefined,
): Promise<DeadLetter[]> {
  const rows = await db
    .selectFrom('dead_letters')
    .selectAll()
    .$if(status !== undefined, query => query.where('status', '=', status ?? 'open'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MOST_LISTED)
    .execute()
  return Promise.all(rows.map(row => toDeadLetter(db, row)))
}

const MOST_LISTED = 200
const MOST_CALLS = 50

export async function countOpenDeadLetters(db: Kysely<Tables>): Promise<number> {
  const row = await db
    .selectFrom('dead_letters')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .where('status', '=', 'open')
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

/** Returns the threads whose newest cycle is an open dead letter. */
export async function failedThreads(db: Kysely<Tables>): Promise<Set<string>> {
  const { rows } = await sql<{ thread: string }>`
    select letter.thread_id as thread from dead_letters as letter
    join cycles on cycles.id = letter.cycle_id
    where letter.status = 'open' and not exists (
      select 1 from cycles as later
      where later.thread_id = letter.thread_id and later.started_at >= cycles.started_at
        and later.fence > cycles.fence)`.execute(db)
  return new Set(rows.map(({ thread }) => thread))
}

/**
 * Gives the batch back to the inbox, so that a new cycle takes it, with a note of the calls that had run.
 * Throws `not_found`, and `conflict` if the dead letter was decided before.
 */
export async function retryDeadLetter(tx: Tx, id: string, by: string, now: number): Promise<DeadLetter> {
  const letter = await decide(tx, id, { status: 'retried', by, now })
  // A reset in the batch was carried out: a second one would take away what came since.
  await tx
    .updateTable('inbox')
    .set({ cycle_id: null })
    .where('cycle_id', '=', letter.cycle)
    .where('source', '!=', 'reset')
    .execute()
  await tx
    .updateTable('inbox')
    .set({ unanswered: 'new' })
    .where('thread_id', '=', letter.thread)
    .where('cycle_id', 'is', null)
    .where('unanswered', 'is not', null)
    .execute()
  await postItem(tx, {
    thread: letter.thread,
    source: NOTE_SOURCE,
    externalId: id,
    payload: { kind: 'notice', text: describeRetry(letter) },
    ...(await powerOfCycle(tx, letter.cycle)),
    conversation: letter.conversation ?? undefined,
    at: now,
  })
  await reviveThread(tx, letter.thread)
  return letter
}

/** Reopens a task that ended with the cycle, and ends the thread's wait unless it has a suspended cycle. */
async function reviveThread(tx: Tx, thread: string): Promise<void> {
  await tx
    .updateTable('threads')
    .set({ status: 'sleeping', ended_at: null, archived_at: null, summary: null })
    .where('id', '=', thread)
    .where('ended_at', 'is not', null)
    .execute()
  const running = tx
    .selectFrom('cycles')
    .select('thread_id')
    .where('thread_id', '=', thread)
    .where('status', '=', sql.lit('running'))
  await tx
    .updateTable('threads')
    .set({ not_before: null })
    .where('id', '=', thread)
    .where('id', 'not in', running)
    .execute()
}

/** Discards a dead letter. Throws `not_found`, and `conflict` if it was decided before. */
export function discardDeadLetter(tx: Tx, id: string, by: string, now: number): Promise<DeadLetter> {
  return decide(tx, id, { status: 'discarded', by, now })
}

async function decide(
  tx: Tx,
  id: string,
  { status, by, now }: { status: 'retried' | 'discarded'; by: string; now: number },
): Promise<DeadLetter> {
  const decided = await tx
    .updateTable('dead_letters')
    .set({ status, decided_at: now, decided_by: by })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .returningAll()
    .executeTakeFirst()
  if (decided) return toDeadLetter(tx, decided)
  const row = await tx.selectFrom('dead_letters').select('status').where('id', '=', id).executeTakeFirst()
  if (row) throw new HubError('conflict', `The dead letter ${id} is ${row.status} already`)
  throw new HubError('not_found', `There is no dead letter ${id}; hub_list_dead_letters shows them`)
}

async function toDeadLetter(db: Kysely<Tables>, row: DeadLetterRow): Promise<DeadLetter> {
  const cycle = await db
    .selectFrom('cycles')
    .select(['steps', 'reply_to'])
    .where('id', '=', row.cycle_id)
    .executeTakeFirst()
  const calls = await db
    .selectFrom('tool_calls')
    .select(['tool', 'arguments', 'status'])
    .where('cycle_id', '=', row.cycle_id)
    .orderBy('step')
    .orderBy('position')
    .limit(MOST_CALLS)
    .execute()
  return {
    id: row.id,
    agent: row.agent,
    thread: row.thread_id,
    cycle: row.cycle_id,
    status: row.status,
    reason: row.reason,
    error: (row.error_json === null ? undefined : parseJson(row.error_json)) as LetterError | undefined,
    retryable: row.retryable === 1,
    at: row.created_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    conversation: cycle?.reply_to ?? null,
    steps: cycle?.steps ?? 0,
    items: await itemsOf(db, row),
    calls,
  }
}

/** Reads the items from the history, which keeps them when a retry has given them back to the inbox. */
async function itemsOf(db: Kysely<Tables>, row: DeadLetterRow): Promise<DeadLetter['items']> {
  const rows = await db
    .selectFrom('history')
    .select('content_json')
    .where('thread_id', '=', row.thread_id)
    .where('cycle_id', '=', row.cycle_id)
    .where('form', '!=', 'whole')
    .orderBy('seq')
    .execute()
  return rows.flatMap(({ content_json }) => {
    const content = historyContent.parse(JSON.parse(content_json))
    return content.role === 'user' ? content.items : []
  })
}

function describeRetry({ id, reason, calls, decidedBy }: DeadLetter): string {
  const begun = calls.filter(call => call.status !== 'planned' && call.status !== 'skipped')
  const ran = begun.map(call => `- ${call.tool} ${truncate(call.arguments, 200)}: ${call.status}`)
  const before =
    ran.length > 0
      ? ` Before that these calls had run; do not repeat them blindly, a person is asked before a change that succeeded runs again:\n${ran.join('\n')}`
      : ''
  return `${decidedBy ?? 'Someone'} has the items of this batch tried again. They failed before (${id}): ${reason}${before}`
}
