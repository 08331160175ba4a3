import { type Kysely, sql } from 'kysely'

/** Stores by whose word something began. What was there before acts as the house's routine. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['inbox', 'cycles', 'schedules', 'events', 'threads', 'approvals'])
    await sql`alter table ${sql.table(table)} add column power text default 'routine' not null`.execute(db)
  // Yeses of people that hold for one tool of an agent, in work of one power, until a time.
  await sql`create table allowances (
    id text primary key, agent text not null, tool text not null, power text not null, reason text not null,
    until bigint not null, created_by text not null, created_at bigint not null, revoked_at bigint)`.execute(
    db,
  )
  await sql`create index allowances_of on allowances (agent, tool)`.execute(db)
  for (const table of ['inbox', 'cycles', 'schedules'])
    await sql`alter table ${sql.table(table)} add column read_foreign integer default 0 not null`.execute(db)
  await sql`alter table context add column power text default 'person' not null`.execute(db)
  await sql`update inbox set power = 'person' where unanswered is not null`.execute(db)
  await sql`update events set power = 'foreign' where status = 'held' and source like 'webhook:%'`.execute(db)
}
