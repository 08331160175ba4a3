import { type Kysely, sql } from 'kysely'
import type { FoundSession } from '../../schemas/search.ts'
import { HubError } from '../core/errors.ts'
import { holdsPhrases, toPhrases, toSnippet } from '../core/full-text.ts'
import type { Timeframe } from '../core/timeframe.ts'
import { dialectOf } from './dialect.ts'
import { readTexts, type TextRow } from './search-index.ts'
import type { Tables } from './tables.ts'

export interface HistorySearch extends Timeframe {
  /** Agent whose threads are searched. */
  agent: string
  query: string
  /** Sessions that are returned at most. */
  limit: number
  /** Cycle that asks, whose own rows do not count. */
  exceptCycle?: string | undefined
}

interface Looked extends HistorySearch {
  phrases: readonly string[]
  which: 'all' | 'any'
}

const MOST_SNIPPETS = 3
/** Windows that are read: those of the threads that were active last. */
const MOST_WINDOWS = 200

/**
 * Finds the sessions of an agent's threads that hold all of the words, the best first; if none does, those
 * that hold any. Text that is still in a window is found too, as a session that is open. Throws
 * `invalid_arguments` for a query without a word.
 */
export async function searchHistory(db: Kysely<Tables>, search: HistorySearch): Promise<FoundSession[]> {
  const phrases = toPhrases(search.query)
  if (phrases.length === 0) {
    throw new HubError('invalid_arguments', 'query: needs a word or a number to look for')
  }
  for (const which of phrases.length > 1 ? (['all', 'any'] as const) : (['all'] as const)) {
    const looked = { ...search, phrases, which }
    const open = await searchWindows(db, looked)
    const older = await searchIndex(db, looked)
    // The limit is shared, so that neither open nor older sessions crowd out the others.
    const room = Math.max(Math.ceil(search.limit / 2), search.limit - older.length)
    const found = [...open.slice(0, room), ...older].slice(0, search.limit)
    if (found.length > 0) return found
  }
  return []
}

interface Hit {
  thread: string
  number: number
  seq: number
}

async function searchIndex(db: Kysely<Tables>, search: Looked): Promise<FoundSession[]> {
  const { rows } = await sql<Hit>`
    with hits as materialized (${dialectOf(db).searchTexts(search.phrases, search.which)}),
    placed as (
      select texts.thread_id, texts.seq, sessions.number,
        row_number() over (
          partition by texts.thread_id, sessions.number order by hits.score, texts.seq desc) as place,
        min(hits.score) over (partition by texts.thread_id, sessions.number) as best
      from hits
      join history_texts as texts on texts.id = hits.id
      join threads on threads.id = texts.thread_id and threads.agent = ${search.agent}
      join sessions on sessions.thread_id = texts.thread_id
        and texts.seq between sessions.first_seq and sessions.last_seq
      where texts.created_at >= ${search.since ?? 0}
        and texts.created_at < ${search.until ?? Number.MAX_SAFE_INTEGER}
    ),
    ranked as (
      select placed.*, dense_rank() over (order by best, thread_id, number desc) as standing
      from placed where place <= ${MOST_SNIPPETS}
    )
    select thread_id as thread, number, seq from ranked
    where standing <= ${search.limit} order by standing, seq`.execute(db)
  const sessions = Map.groupBy(rows, hit => `${hit.thread} ${hit.number}`)
  return Promise.all([...sessions.values()].map(hits => toFound(db, search, hits)))
}

async function toFound(db: Kysely<Tables>, search: Looked, hits: readonly Hit[]): Promise<FoundSession> {
  const [{ thread, number } = { thread: '', number: 0 }] = hits
  const row = await db
    .selectFrom('sessions')
    .selectAll()
    .where('thread_id', '=', thread)
    .where('number', '=', number)
    .executeTakeFirstOrThrow()
  const texts = await Promise.all(hits.map(({ seq }) => readTexts(db, thread, seq, seq)))
  const { started_at, ended_at, messages, tokens, reason, summary } = row
  return {
    session: { thread, number, startedAt: started_at, endedAt: ended_at, messages, tokens, reason, summary },
    snippets: texts.flat().map(text => toFoundSnippet(text, search.phrases)),
  }
}

function toFoundSnippet({ at, role, text }: TextRow, phrases: readonly string[]) {
  return { at, role, text: toSnippet(text, phrases) }
}

/** Searches the windows, the most recently active thread first. */
async function searchWindows(db: Kysely<Tables>, search: Looked): Promise<FoundSession[]> {
  const threads = await db
    .selectFrom('threads')
    .select(['id', 'window_start'])
    .where('agent', '=', search.agent)
    .whereRef('last_seq', '>=', 'window_start')
    .where('updated_at', '>=', search.since ?? 0)
    .orderBy('updated_at', 'desc')
    .limit(MOST_WINDOWS)
    .execute()
  const found: FoundSession[] = []
  for (const { id, window_start } of threads) {
    const rows = await readTexts(db, id, window_start)
    const hits = rows.filter(row => isHit(row, search)).slice(-MOST_SNIPPETS)
    if (hits.length > 0) found.push(await toOpen(db, rows, hits, search))
  }
  return found
}

function isHit({ at, cycle, text }: TextRow, search: Looked): boolean {
  const { since = 0, until = Number.POSITIVE_INFINITY, exceptCycle } = search
  return (
    at >= since && at < until && cycle !== exceptCycle && holdsPhrases(text, search.phrases, search.which)
  )
}

const BYTES_PER_TOKEN = 4

async function toOpen(
  db: Kysely<Tables>,
  rows: readonly TextRow[],
  hits: readonly TextRow[],
  { phrases }: Looked,
): Promise<FoundSession> {
  const thread = rows[0]?.thread ?? ''
  const before = await db
    .selectFrom('sessions')
    .select(eb => eb.fn.max('number').as('last'))
    .where('thread_id', '=', thread)
    .executeTakeFirst()
  const bytes = rows.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  return {
    session: {
      thread,
      number: (before?.last ?? 0) + 1,
      startedAt: rows[0]?.at ?? 0,
      endedAt: rows.at(-1)?.at ?? 0,
      messages: rows.length,
      tokens: Math.ceil(bytes / BYTES_PER_TOKEN),
      reason: 'open',
      summary: '',
    },
    snippets: hits.map(hit => toFoundSnippet(hit, phrases)),
  }
}
