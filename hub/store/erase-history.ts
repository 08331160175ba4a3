import { type HistoryContent, historyContent } from '../../schemas/inbox.ts'
import { toIso } from '../core/clock.ts'
import { quote, truncate } from '../core/text.ts'
import { indexHistory, readTexts, type TextRow } from './search-index.ts'
import type { Tx } from './writer.ts'

/** Characters of each row, and number of rows, in a summary that is written anew. */
const LONGEST_LINE = 300
const MOST_LINES = 30

/**
 * Deletes everything that these cycles wrote from the history, the index and the summaries of their threads.
 * Other things that came in the same batch stay. Calls and results of a cycle go together, so pairs stay
 * complete.
 */
export async function eraseFromHistory(
  tx: Tx,
  cycles: readonly { id: string; thread: string }[],
  conversation: string,
): Promise<{ rows: number; summaries: number }> {
  const total = { rows: 0, summaries: 0 }
  for (const [thread, own] of Map.groupBy(cycles, cycle => cycle.thread)) {
    const seqs = await eraseRows(tx, thread, new Set(own.map(cycle => cycle.id)), conversation)
    total.rows += seqs.length
    total.summaries += await rewriteSummaries(tx, thread, seqs[0] ?? Number.MAX_SAFE_INTEGER)
    // The new fencing number makes every copy of the old window invalid.
    await tx
      .updateTable('threads')
      .set(eb => ({ fence: eb('fence', '+', 1) }))
      .where('id', '=', thread)
      .execute()
  }
  return total
}

/** Erases the rows of these cycles; returns their seqs. */
async function eraseRows(tx: Tx, thread: string, cycles: ReadonlySet<string>, conversation: string) {
  const places = await tx
    .selectFrom('history')
    .select(['seq', 'cycle_id'])
    .where('thread_id', '=', thread)
    .orderBy('seq')
    .execute()
  const seqs = places.filter(({ cycle_id }) => cycles.has(cycle_id)).map(({ seq }) => seq)
  for (const seq of seqs) await eraseRow(tx, thread, seq, conversation)
  return seqs
}

async function eraseRow(tx: Tx, thread: string, seq: number, conversation: string): Promise<void> {
  const { content_json } = await tx
    .selectFrom('history')
    .select('content_json')
    .where('thread_id', '=', thread)
    .where('seq', '=', seq)
    .executeTakeFirstOrThrow()
  const indexed = await tx
    .deleteFrom('history_texts')
    .where('thread_id', '=', thread)
    .where('seq', '=', seq)
    .executeTakeFirst()
  const rest = toRest(historyContent.parse(JSON.parse(content_json)), conversation)
  if (!rest) {
    await tx.deleteFrom('history').where('thread_id', '=', thread).where('seq', '=', seq).execute()
    return
  }
  await tx
    .updateTable('history')
    .set({ content_json: JSON.stringify(rest) })
    .where('thread_id', '=', thread)
    .where('seq', '=', seq)
    .execute()
  if (indexed.numDeletedRows > 0n) await indexHistory(tx, thread, seq, seq)
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
    const stands = { summary, head: session.head === null ? null : `[SUMMARY] ${summary}`, facts_json: null }
    await tx
      .updateTable('sessions')
      .set({ ...stands, summary_by: 'extract', messages: rest.length })
      .where('thread_id', '=', thread)
      .where('number', '=', session.number)
      .execute()
  }
  return sessions.length
}

function toExtract(rest: readonly TextRow[]): string {
  const told = rest.filter(({ role, text }) => role !== 'tool' && text !== '').slice(-MOST_LINES)
  if (told.length === 0) return 'What happened here was deleted together with its conversation.'
  const lines = told.map(({ at, role, text }) => `- ${toIso(at)} ${role}: ${truncate(text, LONGEST_LINE)}`)
  return `The summary of this time was removed together with a conversation. What is left of it:\n${lines.join('\n')}`
}
