import type { Kysely } from 'kysely'
import { parseJson } from '../core/json.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** When old rows were last looked for; undefined for never. */
export async function lastPruned(db: Kysely<Tables>): Promise<number | undefined> {
  const row = await db
    .selectFrom('hub_state')
    .select('value_json')
    .where('key', '=', PRUNED)
    .executeTakeFirst()
  const at = row && parseJson(row.value_json)
  return typeof at === 'number' ? at : undefined
}

export async function savePruned(tx: Tx, at: number): Promise<void> {
  const value_json = JSON.stringify(at)
  await tx
    .insertInto('hub_state')
    .values({ key: PRUNED, value_json })
    .onConflict(oc => oc.column('key').doUpdateSet({ value_json }))
    .execute()
}

const PRUNED = 'pruned_at'
