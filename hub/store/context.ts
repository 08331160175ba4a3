import type { Kysely } from 'kysely'
import type { StoredFact } from '../../schemas/inbox.ts'
import { markOf, type Power } from '../../schemas/power.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export interface ContextScope {
  scope: Tables['context']['scope']
  /** Name of the agent or id of the thread. */
  owner: string
}

export async function storeContext(
  tx: Tx,
  at: ContextScope,
  fact: { key: string; value: string; power: Power },
  now: number,
) {
  const { key, ...said } = fact
  await tx
    .insertInto('context')
    .values({ ...at, ...fact, updated_at: now })
    .onConflict(oc => oc.columns(['scope', 'owner', 'key']).doUpdateSet({ ...said, updated_at: now }))
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
export async function readContext(
  db: Kysely<Tables>,
  at: ContextScope,
): Promise<Omit<StoredFact, 'scope'>[]> {
  const rows = await db
    .selectFrom('context')
    .select(['key', 'value', 'power'])
    .where('scope', '=', at.scope)
    .where('owner', '=', at.owner)
    .orderBy('key')
    .execute()
  return rows.map(withPower)
}

/** Leaves the power of a fact out where it is a person's or the house's own. */
function withPower<Fact>({ power, ...fact }: Fact & { power: Power }) {
  return { ...fact, ...markOf(power) }
}

/** Returns the facts of an agent and of one of its threads, the agent's first, by key. */
export async function factsOf(tx: Tx, agent: string, thread: string): Promise<StoredFact[]> {
  const rows = await tx
    .selectFrom('context')
    .select(['scope', 'key', 'value', 'power'])
    .where(eb =>
      eb.or([
        eb.and([eb('scope', '=', 'agent'), eb('owner', '=', agent)]),
        eb.and([eb('scope', '=', 'thread'), eb('owner', '=', thread)]),
      ]),
    )
    .orderBy('scope')
    .orderBy('key')
    .execute()
  return rows.map(withPower)
}
