import { type Kysely, sql } from 'kysely'

/** "Answered" belongs to each message of a person, no longer to the conversations of a cycle. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('inbox').addColumn('unanswered', 'text').execute()
  // Messages that wait, or that a cycle was working on when the hub ended.
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
