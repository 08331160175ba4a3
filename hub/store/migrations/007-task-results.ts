import type { Kysely } from 'kysely'

/** What a task gave for the schema of its maker stands beside its summary. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('threads').addColumn('result_json', 'text').execute()
}
