import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** Holds what the hub's own authorization server keeps: its keys, clients, grants, codes and refresh tokens. */
export async function up(db: Kysely<unknown>, { clustered }: Dialect): Promise<void> {
  const statements = [
    `create table oauth (
      kind text not null, hash text not null, related text, payload_json text not null,
      consumed_at bigint, expires_at bigint,
      constraint oauth_key primary key (kind, hash)) ${clustered}`,
    'create index oauth_related on oauth (related) where related is not null',
    'create index oauth_expired on oauth (expires_at) where expires_at is not null',
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
