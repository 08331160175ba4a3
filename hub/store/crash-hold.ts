import type { Kysely } from 'kysely'
import { z } from 'zod'
import { countUp, readState, removeState, saveState } from './hub-state.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

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
