import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'

/** Numbers events in the order in which they came, so that readers can continue the hub's own feed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table events add column seq bigint default 0 not null`.execute(db)
  await sql`update events set seq = numbered.place
    from (select id as numbered_id, row_number() over (order by received_at, id) as place from events) as numbered
    where numbered.numbered_id = events.id`.execute(db)
  await sql`create unique index events_seq on events (seq)`.execute(db)
  await sql`create table event_feed (stream text primary key, last_seq bigint not null)`.execute(db)
  await sql`insert into event_feed (stream, last_seq)
    select ${randomUUID()}, coalesce(max(seq), 0) from events`.execute(db)
}
