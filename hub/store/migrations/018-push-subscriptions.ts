import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** Holds the browsers that show notifications. */
export async function up(db: Kysely<unknown>, { clustered }: Dialect): Promise<void> {
  const statement = `create table push_subscriptions (
    token_id text not null, endpoint text not null, p256dh text not null, auth text not null,
    created_at bigint not null, constraint push_subscriptions_key primary key (token_id)) ${clustered}`
  await sql.raw(statement).execute(db)
  await sql`create unique index push_subscriptions_endpoint on push_subscriptions (endpoint)`.execute(db)
}
