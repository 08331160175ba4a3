import type { Kysely } from 'kysely'

/** Lets one process take an approved call, so that no other runs it too. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('approvals').addColumn('lease_owner', 'text').execute()
  await db.schema.alterTable('approvals').addColumn('lease_until', 'bigint').execute()
}
