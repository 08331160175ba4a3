import { type Kysely, sql } from 'kysely'

/** Lets servers ask people during an agent's call: an approval that is answered rather than run. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table approvals add column question_json text`.execute(db)
}
