import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Brings the rows in line with the agent files that are there: new ones appear, missing ones retire, old ones return. */
export async function syncAgents(tx: Tx, present: string[], now: number): Promise<void> {
  for (const name of present) {
    await tx
      .insertInto('agents')
      .values({ name, retired_at: null, created_at: now })
      .onConflict(oc => oc.column('name').doUpdateSet({ retired_at: null }))
      .execute()
  }
  await tx
    .updateTable('agents')
    .set({ retired_at: now })
    .where('retired_at', 'is', null)
    .$if(present.length > 0, query => query.where('name', 'not in', present))
    .execute()
}

export async function listRetired(db: Kysely<Tables>): Promise<string[]> {
  const rows = await db
    .selectFrom('agents')
    .select('name')
    .where('retired_at', 'is not', null)
    .orderBy('name')
    .execute()
  return rows.map(row => row.name)
}
