import { CompiledQuery, type Kysely } from 'kysely'
import { sleep, systemClock } from '../core/clock.ts'
import type { StoreMark } from './store-mark.ts'
import type { Tables } from './tables.ts'
import { StoreFault, type Tx, type Write } from './writer.ts'

interface Job {
  /** When it was queued, milliseconds of the monotonic clock. */
  at: number
  relaxed: boolean
  run: (tx: Tx) => Promise<unknown>
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

const MOST_PER_COMMIT = 256
/** Milliseconds that a commit waits for another process that keeps the database locked, and between its tries. */
const LOCKED_MS = 5_000
const TRY_AGAIN_MS = 50

const SYNC = CompiledQuery.raw('pragma synchronous = FULL')
const RELAX = CompiledQuery.raw('pragma synchronous = NORMAL')

/** Called after a commit, with the milliseconds that its first job waited, and that it took. */
export type OnCommit = (commit: { waited: number; took: number }) => void

/** Creates the writer of SQLite, which has one writer at a time: jobs that arrive together share a commit. */
export function createWriter(
  db: Kysely<Tables>,
  mark?: Pick<StoreMark, 'count' | 'write'>,
  onCommit?: OnCommit,
): Write {
  const queue: Job[] = []
  let draining = false
  let relaxed = false
  const setDurability = async (wanted: boolean) => {
    if (wanted === relaxed) return
    await db.executeQuery(wanted ? RELAX : SYNC)
    relaxed = wanted
  }
  const commit = async (jobs: Job[]) => {
    const settle: (() => void)[] = []
    const isDurable = jobs.some(job => !job.relaxed)
    let commits: number | undefined
    const begun = systemClock.monotonic()
    try {
      await setDurability(!isDurable)
      await whenUnlocked(() => {
        settle.length = 0
        return db.transaction().execute(async tx => {
          await runJobs(tx, jobs, settle)
          commits = isDurable ? await mark?.count(tx) : undefined
        })
      })
    } catch (error) {
      for (const job of jobs) job.reject(error)
      return
    }
    if (commits !== undefined) mark?.write(commits)
    onCommit?.({ waited: begun - (jobs[0]?.at ?? begun), took: systemClock.monotonic() - begun })
    for (const done of settle) done()
  }
  const drain = async () => {
    while (queue.length > 0) await commit(queue.splice(0, MOST_PER_COMMIT))
    draining = false
  }
  return (run, durability = 'disk') =>
    new Promise((resolve, reject) => {
      const at = systemClock.monotonic()
      queue.push({ at, run, resolve, reject, relaxed: durability === 'relaxed' })
      if (draining) return
      draining = true
      // The commit starts after the current round of I/O, so that jobs that arrived in it share it.
      setImmediate(() => void drain())
    })
}

async function runJobs(tx: Tx, jobs: Job[], settle: (() => void)[]): Promise<void> {
  const [only] = jobs
  if (only && jobs.length === 1) {
    const value = await only.run(tx)
    settle.push(() => only.resolve(value as never))
  } else {
    for (const job of jobs) settle.push(await runInSavepoint(tx, job))
  }
}

/** Retries a commit that meets a lock: a job touches only the database, so it may run again. */
async function whenUnlocked(commit: () => Promise<void>): Promise<void> {
  const ends = systemClock.monotonic() + LOCKED_MS
  for (;;) {
    try {
      return await commit()
    } catch (error) {
      const isLocked = error instanceof StoreFault && error.kind === 'locked'
      if (!isLocked || systemClock.monotonic() >= ends) throw error
      await sleep(systemClock, TRY_AGAIN_MS)
    }
  }
}

const SAVE = CompiledQuery.raw('savepoint job')
const RELEASE = CompiledQuery.raw('release savepoint job')
const ROLL_BACK = CompiledQuery.raw('rollback to savepoint job')

async function runInSavepoint(tx: Tx, job: Job): Promise<() => void> {
  await tx.executeQuery(SAVE)
  try {
    const value = await job.run(tx)
    await tx.executeQuery(RELEASE)
    return () => job.resolve(value as never)
  } catch (error) {
    // A StoreFault concerns all jobs of the commit, and a transaction that SQLite rolled back by itself has
    // no savepoint any more.
    if (error instanceof StoreFault) throw error
    await tx.executeQuery(ROLL_BACK)
    await tx.executeQuery(RELEASE)
    return () => job.reject(error)
  }
}
