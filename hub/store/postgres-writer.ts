import { randomUUID } from 'node:crypto'
import { CompiledQuery, type Kysely, sql } from 'kysely'
import { createGroupWriter, type OnCommit } from './group-writer.ts'
import { saveState } from './hub-state.ts'
import { APPLICATION } from './postgres-address.ts'
import { UncertainCommit } from './postgres-faults.ts'
import type { Lease } from './postgres-lease.ts'
import type { Tables } from './tables.ts'
import { StoreFault, type Write } from './writer.ts'

const RELAX = CompiledQuery.raw('set local synchronous_commit = off')
/** Key in `hub_state` of the newest commit's id. */
const COMMIT_KEY = 'commit'
/** Milliseconds that a process of PostgreSQL gets to end. */
const END_MS = 5_000

/**
 * Creates the writer of PostgreSQL. Every commit stores an id of its own, by which the writer finds out what became
 * of one whose connection broke. Where it cannot, it gives the lead up: what the hub remembers may be wrong.
 */
export function createPostgresWriter(
  db: Kysely<Tables>,
  lease: Pick<Lease, 'fence' | 'findLoss' | 'lose'>,
  onCommit?: OnCommit,
): Write {
  const fence = CompiledQuery.raw(lease.fence)
  return createGroupWriter(async (work, isDurable) => {
    const loss = lease.findLoss()
    if (loss !== undefined) throw new StoreFault('unreachable', loss)
    const id = randomUUID()
    try {
      await db.transaction().execute(async tx => {
        if (!isDurable) await tx.executeQuery(RELAX)
        // The fence is the first statement at the database, and nobody waits for its answer before the last.
        const [led] = await Promise.all([tx.executeQuery(fence), work(tx)])
        if (led.rows.length === 0) throw lease.lose()
        await saveState(tx, COMMIT_KEY, id)
      })
    } catch (error) {
      if (!(error instanceof UncertainCommit)) throw error
      if (await wasCommitted(db, id, error, lease)) return
      const text = 'The connection to PostgreSQL broke before the commit, so nothing was stored. Try again.'
      throw new StoreFault('unreachable', text, { cause: error })
    }
  }, onCommit)
}

/** Ends the process that was asked to commit, so that it cannot do so later, and reads what is stored. */
async function wasCommitted(
  db: Kysely<Tables>,
  id: string,
  uncertain: UncertainCommit,
  lease: Pick<Lease, 'lose'>,
): Promise<boolean> {
  try {
    await sql`select pg_terminate_backend(pid, ${END_MS}) from pg_stat_activity
      where pid = ${uncertain.process} and application_name = ${APPLICATION}`.execute(db)
    const row = await db
      .selectFrom('hub_state')
      .select('value_json')
      .where('key', '=', COMMIT_KEY)
      .executeTakeFirst()
    return row?.value_json === JSON.stringify(id)
  } catch (error) {
    lease.lose(error)
    throw uncertain
  }
}
