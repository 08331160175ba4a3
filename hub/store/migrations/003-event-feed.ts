import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'

/** Numbers events in the order in which they came, so that readers can continue the hub's own feed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('events')
    .addColumn('seq', 'bigint', column => column.notNull().defaultTo(0))
    .execute()
  await sql`update events set seq = numbered.place
    from (select id as numbered_id, row_number() over (order by received_at, id) as place from events) as numbered
    where numbered.numbered_id = events.id`.execute(db)
  await db.schema.createIndex('events_seq').on('events').column('seq').unique().execute()
  await db.schema
    .createTable('event_feed')
    .addColumn('stream', 'text', column => column.primaryKey())
    .addColumn('last_seq', 'bigint', column => column.notNull())
    .execute()
  await sql`insert into event_feed (stream, last_seq)
    select ${randomUUID()}, coalesce(max(seq), 0) from events`.execute(db)
}
