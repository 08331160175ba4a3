import { type Kysely, sql } from 'kysely'

/** Numbers the approvals from 1 on, so that people can name one in short. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table approvals add column number integer not null default 0`.execute(db)
  await sql`update approvals set number = (select count(*) from approvals as others where others.created_at < approvals.created_at
    or (others.created_at = approvals.created_at and others.id <= approvals.id))`.execute(db)
  await sql`create unique index approvals_number on approvals (number)`.execute(db)
}
