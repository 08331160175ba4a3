import type { Kysely } from 'kysely'
import type { StoredFact } from '../../schemas/inbox.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export interface ContextScope {
  scope: Tables['context']['scope']
  /** Name of the agent or id of the thread. */
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

/** Returns all facts of an owner, by key. */
export function readContext(db: Kysely<Tables>, at: ContextScope): Promise<{ key: string; value: string }[]> {
  return db
    .selectFrom('context')
    .select(['key', 'value'])
    .where('scope', '=', at.scope)
    .where('owner', '=', at.owner)
    .orderBy('key')
    .execute()
}

/** Returns the facts of an agent and of one of its threads, the agent's first, by key. */
export function factsOf(tx: Tx, agent: string, thread: string): Promise<StoredFact[]> {
  return tx
    .selectFrom('context')
    .select(['scope', 'key', 'value'])
    .where(eb =>
      eb.or([
        eb.and([eb('scope', '=', 'agent'), eb('owner', '=', agent)]),
        eb.and([eb('scope', '=', 'thread'), eb('owner', '=', thread)]),
      ]),
    )
    .orderBy('scope')
    .orderBy('key')
    .execute()
}
