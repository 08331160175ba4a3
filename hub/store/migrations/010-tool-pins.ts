import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** Remembers the tools of other people's servers, so that a change of one is noticed. */
export async function up(db: Kysely<unknown>, { clustered }: Dialect): Promise<void> {
  await sql
    .raw(
      `create table tool_pins (
      server text not null, tool text not null, class text not null, parts_json text not null,
      seen_class text not null, seen_json text not null, first_seen_at bigint not null,
      risen_to text, risen_at bigint,
      constraint tool_pins_key primary key (server, tool)) ${clustered}`,
    )
    .execute(db)
}
