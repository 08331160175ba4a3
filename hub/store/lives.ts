import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { LifeTable, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

const MOST_LIVES = 20
const HOLD = 'hold'

const hold = z.object({
  since: z.number(),
  /** Conversations that were told. */
  told: z.array(z.string()),
})
/** Why no agent runs: the hub ended several times in a row right after its start. */
export type Hold = z.infer<typeof hold>

/** The newest first. */
export function readLives(db: Kysely<Tables>, count: number): Promise<LifeTable[]> {
  return db
    .selectFrom('lives')
    .selectAll()
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(count)
    .execute()
}

/** Begins a life; all but the newest are forgotten. */
export async function beginLife(tx: Tx, id: string, now: number): Promise<void> {
  const life = { id, started_at: now, outlived: 0, stepped: 0, ended_at: null }
  await tx.insertInto('lives').values(life).execute()
  const newest = (await readLives(tx, MOST_LIVES)).map(each => each.id)
  await tx.deleteFrom('lives').where('id', 'not in', newest).execute()
}

export async function markLife(
  tx: Tx,
  id: string,
  mark: Partial<Pick<LifeTable, 'outlived' | 'stepped' | 'ended_at'>>,
): Promise<void> {
  await tx.updateTable('lives').set(mark).where('id', '=', id).execute()
}

export async function readHold(db: Kysely<Tables>): Promise<Hold | undefined> {
  const row = await db.selectFrom('hub_state').select('value_json').where('key', '=', HOLD).executeTakeFirst()
  return row && hold.parse(JSON.parse(row.value_json))
}

export async function writeHold(tx: Tx, value: Hold): Promise<void> {
  const value_json = JSON.stringify(value)
  await tx
    .insertInto('hub_state')
    .values({ key: HOLD, value_json })
    .onConflict(oc => oc.column('key').doUpdateSet({ value_json }))
    .execute()
}

/** Lets go: what crashed before counts no more. False where nothing was held. */
export async function endHold(tx: Tx): Promise<boolean> {
  const ended = await tx.deleteFrom('hub_state').where('key', '=', HOLD).executeTakeFirst()
  await tx.updateTable('lives').set({ outlived: 1 }).execute()
  return ended.numDeletedRows > 0n
}
