import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Agents whose files came and went since the store last saw them. */
export interface AgentChanges {
  /** New agents, and retired ones whose files came back. */
  came: string[]
  went: string[]
}

/** Names in one statement: databases limit its parameters. */
const AT_ONCE = 500

/**
 * Brings the rows in line with the agent files that are there: new agents appear, missing ones retire, old
 * ones return.
 */
export async function syncAgents(tx: Tx, present: readonly string[], now: number): Promise<AgentChanges> {
  const known = new Map(
    (await tx.selectFrom('agents').select(['name', 'retired_at']).execute()).map(row => [
      row.name,
      row.retired_at,
    ]),
  )
  const here = new Set(present)
  const fresh = [...here].filter(name => !known.has(name))
  const back = [...here].filter(name => typeof known.get(name) === 'number')
  const went = [...known].flatMap(([name, retiredAt]) =>
    retiredAt === null && !here.has(name) ? [name] : [],
  )
  for (const names of inParts(fresh)) {
    await tx
      .insertInto('agents')
      .values(names.map(name => ({ name, retired_at: null, created_at: now })))
      .execute()
  }
  await setRetired(tx, back, null)
  await setRetired(tx, went, now)
  return { came: [...fresh, ...back], went }
}

async function setRetired(tx: Tx, all: readonly string[], at: number | null): Promise<void> {
  for (const names of inParts(all)) {
    await tx.updateTable('agents').set({ retired_at: at }).where('name', 'in', names).execute()
  }
}

/** Splits a long list of names into parts, for one statement each. */
export function inParts(names: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(names.length / AT_ONCE) }, (_, part) =>
    names.slice(part * AT_ONCE, (part + 1) * AT_ONCE),
  )
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
