import { type Kysely, sql } from 'kysely'
import { historyContent } from '../../schemas/inbox.ts'
import { HubError } from '../core/errors.ts'
import { eraseFromHistory } from './erase-history.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export interface DeletedConversation {
  messages: number
  inboxItems: number
  /** Cycles that had to do with the conversation. */
  cycles: number
  /** Rows of those cycles' history: what was said, called and returned. */
  historyRows: number
  /** Summaries that were written anew, without the conversation. */
  summaries: number
  /** Ids of schedules that were made in the conversation and go on. */
  schedules: string[]
}

/** Values in one statement. */
const CHUNK = 500

/**
 * Deletes a conversation and what the history holds of every cycle that had to do with it, in the index and
 * in summaries too. Stored facts, active schedules and the words of other conversations stay. Throws
 * `not_found`, and `conflict` while an agent works.
 */
export async function deleteConversation(tx: Tx, id: string): Promise<DeletedConversation> {
  const known = await tx.selectFrom('conversations').select('id').where('id', '=', id).executeTakeFirst()
  if (!known)
    throw new HubError('not_found', `There is no conversation ${id}; hub_list_agents tells which there are`)
  const cycles = await cyclesOf(tx, id)
  await refuseWhileBusy(tx, id, cycles)
  const erased = await eraseFromHistory(tx, cycles, id)
  const tasks = tx.selectFrom('threads').select('id').where('conversation_id', '=', id)
  const items = await tx
    .deleteFrom('inbox')
    .where(eb => eb.or([eb('conversation_id', '=', id), eb('thread_id', 'in', tasks)]))
    .executeTakeFirst()
  for (const chunk of chunksOf(cycles)) await forgetCycles(tx, chunk)
  await forgetTasks(tx, id)
  const messages = await tx.deleteFrom('messages').where('conversation_id', '=', id).executeTakeFirst()
  await tx.deleteFrom('conversations').where('id', '=', id).execute()
  return {
    messages: Number(messages.numDeletedRows),
    inboxItems: Number(items.numDeletedRows),
    cycles: cycles.length,
    historyRows: erased.rows,
    summaries: erased.summaries,
    schedules: await releaseSchedules(tx, id),
  }
}

interface TouchedCycle {
  id: string
  thread: string
}

/**
 * Returns the cycles that took something of the conversation, wrote into it, were to answer it, or ran in a
 * task that it made.
 */
async function cyclesOf(db: Kysely<Tables>, id: string): Promise<TouchedCycle[]> {
  const heard = await cyclesThatHeard(db, id)
  const { rows } = await sql<TouchedCycle>`
    select id, thread_id as thread from cycles where reply_to = ${id}
      or id in (select cycle_id from inbox where conversation_id = ${id} and cycle_id is not null)
      or id in (select cycle_id from messages where conversation_id = ${id} and cycle_id is not null)
      or thread_id in (select id from threads where conversation_id = ${id})`.execute(db)
  const all = new Map([...heard, ...rows].map(cycle => [cycle.id, cycle]))
  return [...all.values()]
}

/** Finds cycles by the history's own words, since the inbox forgets handled items after a while. */
async function cyclesThatHeard(db: Kysely<Tables>, id: string): Promise<TouchedCycle[]> {
  const said = `in the conversation ${id}`
  const rows = await db
    .selectFrom('history')
    .select(['cycle_id as id', 'thread_id as thread', 'content_json'])
    .where('content_json', 'like', `%${said}%`)
    .execute()
  const heard = rows.filter(({ content_json }) => {
    const content = historyContent.parse(JSON.parse(content_json))
    return content.role === 'user' && content.items.some(({ origin }) => origin.endsWith(said))
  })
  return heard.map(({ id: cycle, thread }) => ({ id: cycle, thread }))
}

/**
 * Throws while a cycle of these threads runs, which would write on what is gone, or while a task of the
 * conversation goes on.
 */
async function refuseWhileBusy(db: Kysely<Tables>, id: string, cycles: readonly TouchedCycle[]) {
  const threads = new Set(cycles.map(cycle => cycle.thread))
  const running = await db
    .selectFrom('cycles')
    .select('thread_id')
    .where('status', '=', sql.lit('running'))
    .execute()
  const busy = running.find(({ thread_id }) => threads.has(thread_id))
  if (busy) {
    throw new HubError(
      'conflict',
      `${busy.thread_id} works now, and what it thinks of may be of the conversation ${id}. Wait until it is done, or stop it, and try again.`,
    )
  }
  const task = await db
    .selectFrom('threads')
    .select('id')
    .where('conversation_id', '=', id)
    .where('status', 'in', ['active', 'sleeping', 'waiting'])
    .executeTakeFirst()
  if (task) {
    throw new HubError(
      'conflict',
      `The task ${task.id} of the conversation ${id} goes on. Cancel it, and try again.`,
    )
  }
}

/**
 * Deletes what the ledger, approvals and dead letters tell of cycles. The cycles themselves stay, with what
 * they cost.
 */
async function forgetCycles(tx: Tx, cycles: readonly string[]): Promise<void> {
  await tx.deleteFrom('tool_calls').where('cycle_id', 'in', cycles).execute()
  await tx.deleteFrom('approvals').where('cycle_id', 'in', cycles).execute()
  await tx.deleteFrom('dead_letters').where('cycle_id', 'in', cycles).execute()
  await tx.updateTable('cycles').set({ reply_to: null, note: null }).where('id', 'in', cycles).execute()
}

async function forgetTasks(tx: Tx, id: string): Promise<void> {
  await tx
    .deleteFrom('context')
    .where('scope', '=', 'thread')
    .where('owner', 'in', eb => eb.selectFrom('threads').select('id').where('conversation_id', '=', id))
    .execute()
  await tx
    .updateTable('threads')
    .set({ instructions: null, summary: null, conversation_id: null })
    .where('conversation_id', '=', id)
    .execute()
}

/** Deletes the conversation's ended schedules. The others go on, and answer elsewhere from now on. */
async function releaseSchedules(tx: Tx, id: string): Promise<string[]> {
  await tx
    .deleteFrom('schedules')
    .where('conversation_id', '=', id)
    .where('status', 'in', ['done', 'cancelled'])
    .execute()
  const rows = await tx
    .updateTable('schedules')
    .set({ conversation_id: null })
    .where('conversation_id', '=', id)
    .returning('id')
    .execute()
  return rows.map(row => row.id).sort()
}

function chunksOf(cycles: readonly TouchedCycle[]): string[][] {
  const ids = cycles.map(cycle => cycle.id)
  return Array.from({ length: Math.ceil(ids.length / CHUNK) }, (_, index) =>
    ids.slice(index * CHUNK, (index + 1) * CHUNK),
  )
}
