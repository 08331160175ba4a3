import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'

/** Keeps rows of the audit from being added before its end. */
export async function up(db: Kysely<unknown>, { guardAuditEnd }: Dialect): Promise<void> {
  for (const statement of guardAuditEnd) await sql.raw(statement).execute(db)
}
