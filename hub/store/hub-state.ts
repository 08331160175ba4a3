import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { parseJson } from '../core/json.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Returns when old rows were last looked for; undefined for never. */
export async function lastPruned(db: Kysely<Tables>): Promise<number | undefined> {
  const at = await readState(db, PRUNED)
  return typeof at === 'number' ? at : undefined
}

export async function savePruned(tx: Tx, at: number): Promise<void> {
  await saveState(tx, PRUNED, at)
}

interface NameOwners {
  tools: ReadonlyMap<string, string>
  prompts: ReadonlyMap<string, string>
}

const nameOwners = z
  .object({ tools: z.record(z.string(), z.string()), prompts: z.record(z.string(), z.string()) })
  .catch({ tools: {}, prompts: {} })

/** Returns which server had each tool or prompt name that others wanted too; none if none was saved. */
export async function readNameOwners(db: Kysely<Tables>): Promise<NameOwners> {
  const { tools, prompts } = nameOwners.parse(await readState(db, NAME_OWNERS))
  return { tools: new Map(Object.entries(tools)), prompts: new Map(Object.entries(prompts)) }
}

export async function saveNameOwners(tx: Tx, { tools, prompts }: NameOwners): Promise<void> {
  await saveState(tx, NAME_OWNERS, { tools: Object.fromEntries(tools), prompts: Object.fromEntries(prompts) })
}

const tokenFactors = z.record(z.string(), z.number().positive()).catch({})

/** Returns how many tokens each model counts for one that is estimated, by the model's name. */
export async function readTokenFactors(db: Kysely<Tables>): Promise<ReadonlyMap<string, number>> {
  return new Map(Object.entries(tokenFactors.parse(await readState(db, TOKEN_FACTORS))))
}

export async function saveTokenFactors(tx: Tx, factors: ReadonlyMap<string, number>): Promise<void> {
  const rounded = [...factors].map(([model, factor]) => [model, Number(factor.toFixed(2))])
  await saveState(tx, TOKEN_FACTORS, Object.fromEntries(rounded))
}

/** Returns what was learnt of how a provider's model wants its requests. */
export async function readModelQuirks(db: Kysely<Tables>, model: string): Promise<unknown> {
  return readState(db, `${MODEL_QUIRKS} ${model}`)
}

export async function saveModelQuirks(tx: Tx, model: string, value: unknown): Promise<void> {
  await saveState(tx, `${MODEL_QUIRKS} ${model}`, value)
}

const MODEL_QUIRKS = 'model_quirks'
const PRUNED = 'pruned_at'
const NAME_OWNERS = 'name_owners'
const TOKEN_FACTORS = 'token_factors'

/** Returns what the hub keeps about itself under a key; undefined if it keeps nothing. */
export async function readState(db: Kysely<Tables>, key: string): Promise<unknown> {
  const row = await db.selectFrom('hub_state').select('value_json').where('key', '=', key).executeTakeFirst()
  return row && parseJson(row.value_json)
}

/** Saves a value; writes nothing if the same is kept already. */
export async function saveState(tx: Tx, key: string, value: unknown): Promise<void> {
  const value_json = JSON.stringify(value)
  await tx
    .insertInto('hub_state')
    .values({ key, value_json })
    .onConflict(oc =>
      oc
        .column('key')
        .doUpdateSet({ value_json })
        .whereRef('hub_state.value_json', '!=', 'excluded.value_json'),
    )
    .execute()
}

/** Counts a value up by one, from 0 if nothing was kept. Returns the new count. */
export async function countUp(tx: Tx, key: string): Promise<number> {
  const row = await tx
    .insertInto('hub_state')
    .values({ key, value_json: '1' })
    .onConflict(oc =>
      oc.column('key').doUpdateSet({
        value_json: sql<string>`cast(cast(hub_state.value_json as integer) + 1 as text)`,
      }),
    )
    .returning('value_json')
    .executeTakeFirstOrThrow()
  return Number(row.value_json)
}

/** Removes a value; returns false if nothing was kept. */
export async function removeState(tx: Tx, key: string): Promise<boolean> {
  const removed = await tx.deleteFrom('hub_state').where('key', '=', key).executeTakeFirst()
  return removed.numDeletedRows > 0n
}
