import { type Kysely, sql } from 'kysely'

/**
 * Records when each event goes or went out, since events of one type and key that come close together go out
 * together.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table events add column release_at bigint`.execute(db)
  await sql`alter table events add column is_storm integer default 0 not null`.execute(db)
  await sql`create index events_due on events (release_at)
    where status = 'held' and release_at is not null`.execute(db)
  await sql`create index events_told on events (type, key, release_at)
    where release_at is not null`.execute(db)
}
