import { type Kysely, sql } from 'kysely'

/** Moves "answered" from the conversations of a cycle to each message of a person. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('inbox').addColumn('unanswered', 'text').execute()
  // These messages wait, or a cycle was working on them when the hub ended.
  await sql`
    update inbox set unanswered = 'new'
    where payload_json like '{"kind":"message"%'
      and (cycle_id is null or cycle_id in (select id from cycles where status = 'running'))
  `.execute(db)
  await db.schema
    .createIndex('inbox_unanswered')
    .on('inbox')
    .column('thread_id')
    .where('unanswered' as never, 'is not', null)
    .execute()
}
