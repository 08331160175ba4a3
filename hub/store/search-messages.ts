import { type Kysely, type RawBuilder, sql } from 'kysely'
import { cutAround } from '../core/full-text.ts'
import { inParts } from './agents.ts'
import { dialectOf } from './dialect.ts'
import type { Tables } from './tables.ts'

export interface FoundMessage {
  conversation: string
  seq: number
  author: string
  at: number
  /** The part of its text around the first word. */
  snippet: string
}

const MOST_WORDS = 8

/**
 * Finds what people and agents said in these conversations, the newest first: texts that hold every word, also
 * as a part of another, since Chinese and Japanese put no space between words. Upper and lower case are alike.
 */
export async function searchMessages(
  db: Kysely<Tables>,
  { query, conversations, limit }: { query: string; conversations: readonly string[]; limit: number },
): Promise<FoundMessage[]> {
  const words = query.split(/\s+/).filter(Boolean).slice(0, MOST_WORDS)
  const [first] = words
  if (first === undefined) return []
  const like = sql.raw(dialectOf(db).like)
  const holds = sql.join(
    words.map(word => holdsWord(word, like)),
    sql` and `,
  )
  const parts = inParts(conversations).map(ids =>
    db
      .selectFrom('messages')
      .select(['conversation_id as conversation', 'seq', 'author', 'at', 'text'])
      .where('conversation_id', 'in', ids)
      .where('kind', 'in', ['user', 'agent'])
      .where(sql<boolean>`${holds}`)
      .orderBy('at', 'desc')
      .limit(limit)
      .execute(),
  )
  const found = (await Promise.all(parts)).flat().sort((one, other) => other.at - one.at)
  return found.slice(0, limit).map(({ text, ...message }) => ({
    ...message,
    snippet: cutAround(text, Math.max(0, text.toLowerCase().indexOf(first.toLowerCase()))),
  }))
}

/** The databases' `like` knows the case of ASCII letters only. */
function holdsWord(word: string, like: RawBuilder<unknown>) {
  const isAscii = /^[\u0020-\u007e]*$/.test(word)
  const lower = word.toLowerCase()
  const forms = isAscii ? [word] : [word, lower, lower.charAt(0).toUpperCase() + lower.slice(1)]
  const likes = [...new Set(forms)].map(form => {
    const escaped = form.replace(/[\\%_]/g, found => `\\${found}`)
    return sql`text ${like} ${`%${escaped}%`} escape '\\'`
  })
  return sql`(${sql.join(likes, sql` or `)})`
}
