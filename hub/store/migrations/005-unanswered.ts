import { type Kysely, sql } from 'kysely'

/** Moves "answered" from the conversations of a cycle to each message of a person. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table inbox add column unanswered text`.execute(db)
  // These messages wait, or a cycle was working on them when the hub ended.
  await sql`
    update inbox set unanswered = 'new'
    where payload_json like '{"kind":"message"%'
      and (cycle_id is null or cycle_id in (select id from cycles where status = 'running'))
  `.execute(db)
  await sql`create index inbox_unanswered on inbox (thread_id) where unanswered is not null`.execute(db)
}
