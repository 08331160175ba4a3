import { type Kysely, type RawBuilder, sql } from 'kysely'
import { toFolded } from '../core/full-text.ts'

/** Limits of a `tsvector`: bytes of a word, bytes of a whole one, and its highest position. */
const LONGEST_WORD = 500
const LONGEST_TEXT = 900_000
const LAST_POSITION = 16_000
/** Bytes that a word takes besides its own. */
const WORD_OVERHEAD = 6

/** Creates the table of the words and their index; a deleted row leaves no word in the index once it is vacuumed. */
export async function createSearch(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table history_texts (
      id bigint generated always as identity primary key, thread_id text not null, seq bigint not null,
      created_at bigint not null, text tsvector not null,
      constraint history_texts_place unique (thread_id, seq))`,
    'create index history_search on history_texts using gin (text)',
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/**
 * Returns the words of a text with their positions, as a `tsvector` is written. The hub folds and splits words by
 * itself, as it does for texts that are in no index: `unaccent` and the parsers of PostgreSQL depend on what is
 * installed there, and on the locale.
 */
export function toIndexed(text: string): string {
  let room = LONGEST_TEXT
  const words: string[] = []
  for (const [index, word] of toFolded(text).entries()) {
    const cut = word.slice(0, LONGEST_WORD)
    room -= Buffer.byteLength(cut) + WORD_OVERHEAD
    if (room < 0) break
    // Positions begin anew after the last one, so that words in sequence stay in sequence.
    words.push(`'${cut}':${(index % LAST_POSITION) + 1}`)
  }
  return words.join(' ')
}

/** Builds the search. Words are letters and digits, so that nothing in them is syntax; the last may go on. */
export function searchTexts(
  phrases: readonly string[],
  which: 'all' | 'any',
): RawBuilder<{ id: number; score: number }> {
  const parts = phrases
    .map(phrase => toFolded(phrase).map(word => `'${word.slice(0, LONGEST_WORD)}'`))
    .filter(words => words.length > 0)
    .map(words => `(${words.join(' <-> ')})`)
  const query = parts.join(which === 'all' ? ' & ' : ' | ').replace(/'\)$/, "':*)")
  return sql`select id, -ts_rank(text, query) as score
    from history_texts, (select ${query}::tsquery as query) as asked where text @@ query`
}
