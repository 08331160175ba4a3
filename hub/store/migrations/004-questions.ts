import type { Kysely } from 'kysely'

/** Lets servers ask people during an agent's call: an approval that is answered rather than run. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('approvals').addColumn('question_json', 'text').execute()
}
