import { sql } from 'kysely'
import { type HistoryContent, historyContent } from '../../schemas/inbox.ts'
import { toIso } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { quote, truncate } from '../core/text.ts'
import { inParts } from './agents.ts'
import { indexHistory, readTexts, type TextRow } from './search-index.ts'
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

/**
 * Deletes a conversation and what the history holds of every cycle that had to do with it, in the index and
 * in summaries too. Stored facts, active schedules and the words of other conversations stay. Throws
 * `not_found`, and `conflict` while an agent works.
 */
export async function deleteConversation(tx: Tx, id: string): Promise<DeletedConversation> {
  const gone = await tx.deleteFrom('conversations').where('id', '=', id).executeTakeFirst()
  if (gone.numDeletedRows === 0n)
    throw new HubError('not_found', `There is no conversation ${id}; hub_list_agents tells which there are`)
  const cycles = await cyclesOf(tx, id)
  const threads = Map.groupBy(cycles, cycle => cycle.thread)
  await refuseWhileBusy(tx, id, [...threads.keys()])
  let historyRows = 0
  let summaries = 0
  for (const [thread, own] of threads) {
    const seqs = await eraseRows(tx, thread, own, id)
    historyRows += seqs.length
    summaries += await rewriteSummaries(tx, thread, seqs[0] ?? Number.MAX_SAFE_INTEGER)
    // The new fencing number makes every copy of the old window invalid.
    await sql`update threads set fence = fence + 1 where id = ${thread}`.execute(tx)
  }
  const items = await sql`delete from inbox where conversation_id = ${id}
    or thread_id in (select id from threads where conversation_id = ${id})`.execute(tx)
  await forgetCycles(tx, cycles)
  await forgetTasks(tx, id)
  await sql`delete from files where conversation_id = ${id}`.execute(tx)
  const messages = await sql`delete from messages where conversation_id = ${id}`.execute(tx)
  return {
    messages: Number(messages.numAffectedRows),
    inboxItems: Number(items.numAffectedRows),
    cycles: cycles.length,
    historyRows,
    summaries,
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
async function cyclesOf(tx: Tx, id: string): Promise<TouchedCycle[]> {
  const { rows } = await sql<TouchedCycle>`
    select id, thread_id as thread from cycles where reply_to = ${id}
      or id in (select cycle_id from inbox where conversation_id = ${id} and cycle_id is not null)
      or id in (select cycle_id from messages where conversation_id = ${id} and cycle_id is not null)
      or thread_id in (select id from threads where conversation_id = ${id})`.execute(tx)
  const all = new Map([...(await cyclesThatHeard(tx, id)), ...rows].map(cycle => [cycle.id, cycle]))
  return [...all.values()]
}

/** Finds cycles by the history's own words, since the inbox forgets handled items after a while. */
async function cyclesThatHeard(tx: Tx, id: string): Promise<TouchedCycle[]> {
  const said = `in the conversation ${id}`
  const rows = await tx
    .selectFrom('history')
    .select(['cycle_id', 'thread_id as thread', 'content_json'])
    .where('content_json', 'like', `%${said}%`)
    .execute()
  return rows.flatMap(({ cycle_id, thread, content_json }) => {
    const content = historyContent.parse(JSON.parse(content_json))
    const heard = content.role === 'user' && content.items.some(({ origin }) => origin.endsWith(said))
    return heard ? { id: cycle_id, thread } : []
  })
}

/**
 * Throws while a cycle of these threads runs, which would write on what is gone, or while a task of the
 * conversation goes on.
 */
async function refuseWhileBusy(tx: Tx, id: string, threads: readonly string[]): Promise<void> {
  const running = await tx
    .selectFrom('cycles')
    .select('thread_id')
    .where('status', '=', sql.lit('running'))
    .execute()
  const busy = running.find(({ thread_id }) => threads.includes(thread_id))
  if (busy) {
    throw new HubError(
      'conflict',
      `${busy.thread_id} works now, and what it thinks of may be of the conversation ${id}. Wait until it is done, or stop it, and try again.`,
    )
  }
  const task = await tx
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
 * Erases what these cycles wrote from the history of their thread and its index; returns the seqs. Other
 * things that came in the same batch stay. Calls and results of a cycle go together, so pairs stay complete.
 */
async function eraseRows(tx: Tx, thread: string, cycles: readonly TouchedCycle[], conversation: string) {
  const seqs: number[] = []
  for (const ids of inParts(cycles.map(({ id }) => id))) {
    const rows = await tx
      .selectFrom('history')
      .select(['seq', 'content_json'])
      .where('thread_id', '=', thread)
      .where('cycle_id', 'in', ids)
      .execute()
    for (const { seq, content_json } of rows) {
      seqs.push(seq)
      await eraseRow(tx, thread, seq, toRest(historyContent.parse(JSON.parse(content_json)), conversation))
    }
  }
  return seqs.sort((one, other) => one - other)
}

async function eraseRow(tx: Tx, thread: string, seq: number, rest: HistoryContent | undefined) {
  const place = sql`thread_id = ${thread} and seq = ${seq}`
  const indexed = await sql`delete from history_texts where ${place}`.execute(tx)
  if (!rest) {
    await sql`delete from history where ${place}`.execute(tx)
    return
  }
  await sql`update history set content_json = ${JSON.stringify(rest)} where ${place}`.execute(tx)
  if (indexed.numAffectedRows !== 0n) await indexHistory(tx, thread, seq, seq)
}

/**
 * Returns the part of a row that has nothing to do with the conversation: messages of others, and events;
 * undefined if there is none.
 */
function toRest(content: HistoryContent, conversation: string): HistoryContent | undefined {
  if (content.role !== 'user') return undefined
  const items = content.items.filter(
    ({ kind, origin }) =>
      kind === 'event' || (kind === 'message' && !origin.endsWith(` in the conversation ${conversation}`)),
  )
  if (items.length === 0) return undefined
  const [head = ''] = content.text.split('\n')
  const lines = items.map((item, index) => `\n${index + 1}. ${item.origin}:\n${quote(item.text)}`)
  const note = 'A part of this was deleted together with its conversation.'
  return { role: 'user', items, text: [head, note, ...lines].join('\n') }
}

/**
 * Rewrites the first summary that tells of the rows and every later one, since each carries on what the one
 * before it said.
 */
async function rewriteSummaries(tx: Tx, thread: string, firstSeq: number): Promise<number> {
  const sessions = await tx
    .selectFrom('sessions')
    .selectAll()
    .where('thread_id', '=', thread)
    .where('last_seq', '>=', firstSeq)
    .execute()
  for (const session of sessions) {
    const rest = await readTexts(tx, thread, session.first_seq, session.last_seq)
    const summary = toExtract(rest)
    const head = session.head === null ? null : `[SUMMARY] ${summary}`
    await tx
      .updateTable('sessions')
      .set({ summary, head, facts_json: null, summary_by: 'extract', messages: rest.length })
      .where('thread_id', '=', thread)
      .where('number', '=', session.number)
      .execute()
  }
  return sessions.length
}

/** Characters of each row, and number of rows, in a summary that is written anew. */
const LONGEST_LINE = 300
const MOST_LINES = 30

function toExtract(rest: readonly TextRow[]): string {
  const told = rest.filter(({ role, text }) => role !== 'tool' && text !== '').slice(-MOST_LINES)
  if (told.length === 0) return 'What happened here was deleted together with its conversation.'
  const lines = told.map(({ at, role, text }) => `- ${toIso(at)} ${role}: ${truncate(text, LONGEST_LINE)}`)
  return `The summary of this time was removed together with a conversation. What is left of it:\n${lines.join('\n')}`
}

/**
 * Deletes what the ledger, approvals and dead letters tell of cycles. The cycles themselves stay, with what
 * they cost.
 */
async function forgetCycles(tx: Tx, cycles: readonly TouchedCycle[]): Promise<void> {
  for (const ids of inParts(cycles.map(({ id }) => id))) {
    for (const table of ['tool_calls', 'approvals', 'dead_letters'] as const)
      await tx.deleteFrom(table).where('cycle_id', 'in', ids).execute()
    await tx.updateTable('cycles').set({ reply_to: null, note: null }).where('id', 'in', ids).execute()
  }
}

async function forgetTasks(tx: Tx, id: string): Promise<void> {
  await sql`delete from context where scope = 'thread'
    and owner in (select id from threads where conversation_id = ${id})`.execute(tx)
  await tx
    .updateTable('threads')
    .set({ instructions: null, summary: null, result_json: null, conversation_id: null })
    .where('conversation_id', '=', id)
    .execute()
}

/** Deletes the conversation's ended schedules. The others go on, and answer elsewhere from now on. */
async function releaseSchedules(tx: Tx, id: string): Promise<string[]> {
  await sql`delete from schedules where conversation_id = ${id} and status in ('done', 'cancelled')`.execute(
    tx,
  )
  const rows = await tx
    .updateTable('schedules')
    .set({ conversation_id: null })
    .where('conversation_id', '=', id)
    .returning('id')
    .execute()
  return rows.map(row => row.id).sort()
}
