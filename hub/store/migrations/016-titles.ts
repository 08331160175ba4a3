import { type Kysely, sql } from 'kysely'

/** Holds the titles that people give conversations, and which are pinned. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table conversations add column title text`.execute(db)
  await sql`alter table conversations add column pinned integer not null default 0`.execute(db)
}
