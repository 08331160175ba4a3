import type { Kysely } from 'kysely'
import type { ContextTable, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export interface ContextScope {
  scope: ContextTable['scope']
  /** The agent's name or the thread's id. */
  owner: string
}

export async function storeContext(tx: Tx, at: ContextScope, key: string, value: string, now: number) {
  await tx
    .insertInto('context')
    .values({ ...at, key, value, updated_at: now })
    .onConflict(oc => oc.columns(['scope', 'owner', 'key']).doUpdateSet({ value, updated_at: now }))
    .execute()
}

export async function removeContext(tx: Tx, at: ContextScope, key: string): Promise<void> {
  await tx
    .deleteFrom('context')
    .where('scope', '=', at.scope)
    .where('owner', '=', at.owner)
    .where('key', '=', key)
    .execute()
}

/** All facts of an owner, by key. */
export function readContext(db: Kysely<Tables>, at: ContextScope): Promise<{ key: string; value: string }[]> {
  return db
    .selectFrom('context')
    .select(['key', 'value'])
    .where('scope', '=', at.scope)
    .where('owner', '=', at.owner)
    .orderBy('key')
    .execute()
}
