import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** Holds the tokens that open the hub, without their secrets, and the people who may sign in. */
export async function up(db: Kysely<unknown>, { clustered }: Dialect): Promise<void> {
  const statements = [
    `create table tokens (
      id text not null, name text not null, role text not null, kind text not null,
      tools_json text, hash text not null, created_at bigint not null, expires_at bigint,
      last_used_at bigint, ended_at bigint,
      constraint tokens_key primary key (id)) ${clustered}`,
    'create unique index tokens_by_hash on tokens (hash)',
    `create table people (
      name text not null, role text not null, created_at bigint not null,
      constraint people_key primary key (name)) ${clustered}`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
