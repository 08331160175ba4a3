import type { Kysely } from 'kysely'
import { type HistoryContent, historyContent } from '../../schemas/inbox.ts'
import { dialectOf } from './dialect.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Tool that is not indexed: what it found is in the history already, where it was first. */
const SEARCH_TOOL = 'search_history'

/** Returns the text that a search finds of a row of history; empty for none. */
export function toSearchText(content: HistoryContent): string {
  switch (content.role) {
    case 'user':
      return content.items.map(item => `${item.origin}: ${item.text}`).join('\n') || content.text
    case 'assistant': {
      const calls = content.calls.filter(call => call.name !== SEARCH_TOOL)
      return [content.text, ...calls.map(call => `${call.name} ${call.arguments}`)].join('\n').trim()
    }
    case 'tool':
      return content.name === SEARCH_TOOL ? '' : `${content.name}: ${content.text}`
    default:
      return content satisfies never
  }
}

export interface TextRow {
  thread: string
  seq: number
  cycle: string
  at: number
  role: HistoryContent['role']
  text: string
}

/** Reads rows of a thread's history as a search sees them, in order; without `lastSeq` up to the newest. */
export async function readTexts(
  db: Kysely<Tables>,
  thread: string,
  firstSeq: number,
  lastSeq?: number,
): Promise<TextRow[]> {
  const rows = await db
    .selectFrom('history')
    .select(['thread_id', 'seq', 'cycle_id', 'content_json', 'created_at'])
    .where('thread_id', '=', thread)
    .where('seq', '>=', firstSeq)
    .$if(lastSeq !== undefined, query => query.where('seq', '<=', lastSeq ?? 0))
    .orderBy('seq')
    .execute()
  return rows.map(row => {
    const content = historyContent.parse(JSON.parse(row.content_json))
    const { thread_id, seq, cycle_id, created_at } = row
    return {
      thread: thread_id,
      seq,
      cycle: cycle_id,
      at: created_at,
      role: content.role,
      text: toSearchText(content),
    }
  })
}

/**
 * Makes a part of a thread's history findable, in the transaction that takes it out of the window and writes
 * its session. A row that the window showed as a stub is indexed whole. May be called twice for the same
 * rows.
 */
export async function indexHistory(tx: Tx, thread: string, firstSeq: number, lastSeq: number): Promise<void> {
  const { toIndexed } = dialectOf(tx)
  for (const row of await readTexts(tx, thread, firstSeq, lastSeq)) {
    if (row.text === '') continue
    await tx
      .insertInto('history_texts')
      .values({ thread_id: thread, seq: row.seq, created_at: row.at, text: toIndexed(row.text) })
      .onConflict(oc => oc.columns(['thread_id', 'seq']).doNothing())
      .execute()
  }
}
