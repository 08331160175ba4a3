import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export interface StoredVerdict {
  /** JSON of the probe's result. */
  verdict: string
  /** Time of the probe, unix milliseconds: an old verdict is not trusted. */
  at: number
}

export async function readVerdict(db: Kysely<Tables>, server: string): Promise<StoredVerdict | undefined> {
  const row = await db.selectFrom('server_eras').selectAll().where('server', '=', server).executeTakeFirst()
  return row && { verdict: row.verdict_json, at: row.at }
}

export async function saveVerdict(tx: Tx, server: string, found: StoredVerdict): Promise<void> {
  const values = { verdict_json: found.verdict, at: found.at }
  await tx
    .insertInto('server_eras')
    .values({ server, ...values })
    .onConflict(oc => oc.column('server').doUpdateSet(values))
    .execute()
}
