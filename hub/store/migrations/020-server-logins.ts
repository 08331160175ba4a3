import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** Holds the hub's logins at servers. */
export async function up(db: Kysely<unknown>, { clustered }: Dialect): Promise<void> {
  const statement = `create table server_logins (
    server text not null, login_json text not null, saved_at bigint not null,
    constraint server_logins_key primary key (server)) ${clustered}`
  await sql.raw(statement).execute(db)
}
