import type { Kysely } from 'kysely'

/** Adds what a task gave for the schema of its maker, beside its summary. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('threads').addColumn('result_json', 'text').execute()
}
