import type { Kysely } from 'kysely'
import type { StoredFact } from '../../schemas/inbox.ts'
import { markOf, type Power } from '../../schemas/power.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Most characters of a fact's key. */
export const LONGEST_KEY = 100
const LONGEST_FACT = 4_000
/** The most facts, and their bytes, of one owner; the context window, which takes them whole, holds more. */
const MOST_FACTS = 100
const MOST_BYTES = 32 * 1024

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

export type AgentFact = Awaited<ReturnType<typeof factsBeginning>>[number]

/** Returns all agents' own facts whose keys begin with a text, by agent and key. */
export async function factsBeginning(db: Kysely<Tables>, beginning: string) {
  const rows = await db
    .selectFrom('context')
    .select(['owner', 'key', 'value', 'power', 'updated_at'])
    .where('scope', '=', 'agent')
    .where('key', 'like', `${beginning}%`)
    .orderBy('owner')
    .orderBy('key')
    .execute()
  return rows.map(({ owner: agent, updated_at: at, ...fact }) => ({ agent, at, ...fact }))
}

/** Leaves the power of a fact out where it is a person's or the house's own. */
function withPower<Fact>({ power, ...fact }: Fact & { power: Power }) {
  return { ...fact, ...markOf(power) }
}

/** Returns the facts of an agent and of one of its threads, the agent's first, by key. */
export async function factsOf(db: Kysely<Tables>, agent: string, thread: string): Promise<StoredFact[]> {
  const rows = await db
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

/** Returns why a fact cannot be stored beside the others of its owner; undefined where it can. */
export function refuseFact(
  facts: readonly { key: string; value: string }[],
  key: string,
  value: string,
): string | undefined {
  if (value.length > LONGEST_FACT) {
    return `value: has ${value.length} characters, at most ${LONGEST_FACT} are kept: store what matters, or several facts under keys of their own`
  }
  const others = facts.filter(fact => fact.key !== key)
  const bytes = [...others, { key, value }].reduce(
    (sum, fact) => sum + Buffer.byteLength(fact.key) + Buffer.byteLength(fact.value),
    0,
  )
  if (others.length < MOST_FACTS && bytes <= MOST_BYTES) return undefined
  const longest = others.toSorted((a, b) => b.value.length - a.value.length).slice(0, 3)
  return `No room: at most ${MOST_FACTS} facts with ${MOST_BYTES / 1024} KB together are kept, and this would make it ${others.length + 1} with ${Math.ceil(bytes / 1024)} KB. Forget some with an empty value first; the longest: ${longest.map(fact => fact.key).join(', ')}`
}
