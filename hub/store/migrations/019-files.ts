import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** Holds the files that people send with messages, and the text in them. */
export async function up(db: Kysely<unknown>, { bytes }: Dialect): Promise<void> {
  const statements = [
    `create table files (
      id text primary key not null, author text not null, name text not null, size integer not null,
      content ${bytes} not null, text text not null, conversation_id text, message_id text, created_at bigint not null)`,
    'create index files_conversation on files (conversation_id)',
    'create index files_created on files (created_at)',
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
