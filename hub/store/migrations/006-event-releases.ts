import { type Kysely, sql } from 'kysely'

/**
 * Records when each event goes or went out, since events of one type and key that come close together go out
 * together.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('events').addColumn('release_at', 'bigint').execute()
  await db.schema
    .alterTable('events')
    .addColumn('is_storm', 'integer', column => column.notNull().defaultTo(0))
    .execute()
  await sql`create index events_due on events (release_at)
    where status = 'held' and release_at is not null`.execute(db)
  await sql`create index events_told on events (type, key, release_at)
    where release_at is not null`.execute(db)
}
