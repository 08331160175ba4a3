import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** Holds what people are to be notified of, and the keys of the buttons that answer approvals. */
export async function up(db: Kysely<unknown>, { clustered }: Dialect): Promise<void> {
  const statements = [
    `create table notifications (
      id text not null, about text not null, state text not null, attempts integer not null, due_at bigint,
      created_at bigint not null, constraint notifications_key primary key (id)) ${clustered}`,
    'create index notifications_due on notifications (due_at) where due_at is not null',
    `create table approval_keys (
      hash text not null, approval_id text not null, created_at bigint not null,
      constraint approval_keys_key primary key (hash)) ${clustered}`,
    'create index approval_keys_approval on approval_keys (approval_id)',
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
