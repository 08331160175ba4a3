import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** Adds the audit, whose rows carry the hash of the row before, and the two ends of that chain. */
export async function up(db: Kysely<unknown>, { clustered, guardAudit }: Dialect): Promise<void> {
  await sql`create table audit (
    seq bigint primary key, at bigint not null, kind text not null, actor text not null, role text, door text,
    power text, tool text, outcome text not null, call_id text, details_json text not null, hash text not null) ${sql.raw(clustered)}`.execute(
    db,
  )
  await sql`create table audit_chain (
    last_seq bigint not null, last_hash text not null, removed_seq bigint not null, removed_hash text not null)`.execute(
    db,
  )
  await sql`insert into audit_chain (last_seq, last_hash, removed_seq, removed_hash) values (0, '', 0, '')`.execute(
    db,
  )
  for (const statement of guardAudit) await sql.raw(statement).execute(db)
}
