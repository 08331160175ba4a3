import { type Kysely, sql } from 'kysely'

/** Adds what a task gave for the schema of its maker, beside its summary. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table threads add column result_json text`.execute(db)
}
