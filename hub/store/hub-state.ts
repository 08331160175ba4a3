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

const fileHashes = z.record(z.string(), z.string()).catch({})

/** Returns the hashes of the operator's files as they were last recorded, by path. */
export async function readFileHashes(db: Kysely<Tables>): Promise<ReadonlyMap<string, string>> {
  return new Map(Object.entries(fileHashes.parse(await readState(db, FILE_HASHES))))
}

export async function saveFileHashes(tx: Tx, hashes: ReadonlyMap<string, string>): Promise<void> {
  await saveState(tx, FILE_HASHES, Object.fromEntries(hashes))
}

/** Returns the file from which the store was put back since this was asked last; undefined for none. */
export async function takeRestored(tx: Tx): Promise<string | undefined> {
  const file = await readState(tx, RESTORED_KEY)
  return typeof file === 'string' && (await removeState(tx, RESTORED_KEY)) ? file : undefined
}

/** Returns the mark of the owner's token that a hub recorded last; undefined for none yet. */
export async function readOwnerMark(db: Kysely<Tables>, hub: string): Promise<string | undefined> {
  return z
    .string()
    .optional()
    .parse(await readState(db, `${OWNER_MARK} ${hub}`))
}

export async function saveOwnerMark(tx: Tx, hub: string, mark: string): Promise<void> {
  await saveState(tx, `${OWNER_MARK} ${hub}`, mark)
}

/** A secret of the owner's that a hub made: the id of that hub, and whether it was revoked. */
const ownerSecret = z.object({ hub: z.string(), isRevoked: z.boolean() })
export type OwnerSecret = z.infer<typeof ownerSecret>

/** Returns the owner's secrets of all hubs on the store, by their SHA-256 in hex. */
export async function readOwnerSecrets(db: Kysely<Tables>): Promise<ReadonlyMap<string, OwnerSecret>> {
  const states = await readStates(db, `${OWNER_SECRET} `)
  return new Map([...states].map(([hash, value]) => [hash, ownerSecret.parse(value)]))
}

export async function saveOwnerSecret(tx: Tx, hash: string, secret: OwnerSecret): Promise<void> {
  await saveState(tx, `${OWNER_SECRET} ${hash}`, secret)
}

export async function removeOwnerSecret(tx: Tx, hash: string): Promise<void> {
  await removeState(tx, `${OWNER_SECRET} ${hash}`)
}

const pushKeys = z.object({ publicKey: z.string(), privateKey: z.string() })
/** The key pair by which push services know this hub (VAPID), base64url. */
export type PushKeys = z.infer<typeof pushKeys>

export async function readPushKeys(db: Kysely<Tables>): Promise<PushKeys | undefined> {
  return pushKeys.optional().parse(await readState(db, PUSH_KEYS))
}

/** Keeps a key pair, unless there is one; returns the one that is kept. */
export async function keepPushKeys(tx: Tx, made: PushKeys): Promise<PushKeys> {
  const known = await readPushKeys(tx)
  if (!known) await saveState(tx, PUSH_KEYS, made)
  return known ?? made
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
const FILE_HASHES = 'file_hashes'
const NAME_OWNERS = 'name_owners'
/** Key under which a restore leaves its file. */
export const RESTORED_KEY = 'restored'
const PUSH_KEYS = 'push_keys'
const OWNER_MARK = 'owner_token'
const OWNER_SECRET = 'owner_secret'
const TOKEN_FACTORS = 'token_factors'

/** Returns what the hub keeps about itself under a key; undefined if it keeps nothing. */
async function readState(db: Kysely<Tables>, key: string): Promise<unknown> {
  const row = await db.selectFrom('hub_state').select('value_json').where('key', '=', key).executeTakeFirst()
  return row && parseJson(row.value_json)
}

/** Returns every value whose key begins with a prefix, by the rest of the key. */
export async function readStates(db: Kysely<Tables>, prefix: string): Promise<Map<string, unknown>> {
  const rows = await db.selectFrom('hub_state').selectAll().where('key', 'like', `${prefix}%`).execute()
  return new Map(rows.map(row => [row.key.slice(prefix.length), parseJson(row.value_json)]))
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
        value_json: sql<string>`cast(cast(hub_state.value_json as bigint) + 1 as text)`,
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

/** Key under which a store that is being copied into has the tables that it has. */
export const COPY_KEY = 'copied_tables'
const MOVED_TO = 'moved_to'

/** Returns the tables that a copy into this store has finished; undefined if none is under way. */
export async function readCopyMark(db: Kysely<Tables>): Promise<string[] | undefined> {
  return z
    .array(z.string())
    .optional()
    .parse(await readState(db, COPY_KEY))
}

/** Saves the tables that a copy has finished; undefined ends the copy. */
export async function saveCopyMark(tx: Tx, tables: readonly string[] | undefined): Promise<void> {
  if (tables) await saveState(tx, COPY_KEY, tables)
  else await removeState(tx, COPY_KEY)
}

/** Returns where the contents of the store went; undefined if they are here. */
export async function readMovedTo(db: Kysely<Tables>): Promise<string | undefined> {
  return z
    .string()
    .optional()
    .parse(await readState(db, MOVED_TO))
}

export async function saveMovedTo(tx: Tx, place: string | undefined): Promise<void> {
  if (place === undefined) await removeState(tx, MOVED_TO)
  else await saveState(tx, MOVED_TO, place)
}

const HOLD = 'hold'
const RUNS = 'crash_runs'

const hold = z.object({
  since: z.number(),
  /** Conversations that were told of the hold. */
  told: z.array(z.string()),
})
/** The hold of all agents: the hub crashed several times in a row soon after its start, while a cycle ran. */
export type Hold = z.infer<typeof hold>

/** Counts the runs of the hub in a row that had a cycle and neither a step nor an end in order. */
export async function crashRuns(db: Kysely<Tables>): Promise<number> {
  return z
    .number()
    .catch(0)
    .parse(await readState(db, RUNS))
}

/** Counts this run, which has a cycle, as a crash until `forgetCrashRuns` says that it was none. */
export async function countCrashRun(tx: Tx): Promise<void> {
  await countUp(tx, RUNS)
}

export async function forgetCrashRuns(tx: Tx): Promise<void> {
  await removeState(tx, RUNS)
}

export async function readHold(db: Kysely<Tables>): Promise<Hold | undefined> {
  return hold.optional().parse(await readState(db, HOLD))
}

export async function writeHold(tx: Tx, value: Hold): Promise<void> {
  await saveState(tx, HOLD, value)
}

/** Ends the hold; crashes before it count no more. Returns false if there was no hold. */
export async function endHold(tx: Tx): Promise<boolean> {
  await forgetCrashRuns(tx)
  return removeState(tx, HOLD)
}

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
