import { type Kysely, sql } from 'kysely'

/** Lets one process take an approved call, so that no other runs it too. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table approvals add column lease_owner text`.execute(db)
  await sql`alter table approvals add column lease_until bigint`.execute(db)
}
