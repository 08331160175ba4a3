import { type Kysely, type RawBuilder, sql } from 'kysely'

/** Creates the FTS5 index over `history_texts`. A deleted text leaves no word in the index either. */
export async function createSearch(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table history_texts (
      id integer primary key, thread_id text not null, seq bigint not null, created_at bigint not null,
      text text not null, constraint history_texts_place unique (thread_id, seq))`,
    `create virtual table history_search using fts5(
      text, content = 'history_texts', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2')`,
    `insert into history_search (history_search, rank) values ('secure-delete', 1)`,
    `create trigger history_texts_added after insert on history_texts begin
      insert into history_search (rowid, text) values (new.id, new.text); end`,
    `create trigger history_texts_removed after delete on history_texts begin
      insert into history_search (history_search, rowid, text) values ('delete', old.id, old.text); end`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** Builds the search. Phrases are quoted, so that nothing in them is FTS5's syntax; the last may go on. */
export function searchTexts(
  phrases: readonly string[],
  which: 'all' | 'any',
): RawBuilder<{ id: number; score: number }> {
  const quoted = phrases.map(phrase => `"${phrase.replaceAll('"', '""')}"`)
  const match = `${quoted.join(which === 'all' ? ' AND ' : ' OR ')}*`
  return sql`select rowid as id, rank as score from history_search where history_search match ${match}`
}
