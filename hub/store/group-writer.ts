import { CompiledQuery } from 'kysely'
import { sleep, systemClock } from '../core/clock.ts'
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
/** Milliseconds that a commit waits for whoever keeps the database locked, and between its tries. */
const LOCKED_MS = 5_000
const TRY_AGAIN_MS = 50

/** Called after a commit, with the milliseconds that its first job waited, and that it took. */
export type OnCommit = (commit: { waited: number; took: number }) => void

/**
 * Runs `work` in one transaction, and resolves once that is committed, on the disk if it has to be durable. It is
 * called again where it throws a StoreFault of the kind `locked`: nothing of `work` is stored then.
 */
export type Commit = (work: (tx: Tx) => Promise<void>, isDurable: boolean) => Promise<void>

/** Creates the writer of a store that one hub writes to: jobs that arrive together share a commit. */
export function createGroupWriter(commitOnce: Commit, onCommit?: OnCommit): Write {
  const queue: Job[] = []
  let draining = false
  const commit = async (jobs: Job[]) => {
    const settle: (() => void)[] = []
    const isDurable = jobs.some(job => !job.relaxed)
    const begun = systemClock.monotonic()
    const work = (tx: Tx) => {
      settle.length = 0
      return runJobs(tx, jobs, settle)
    }
    try {
      await whenUnlocked(() => commitOnce(work, isDurable))
    } catch (error) {
      for (const job of jobs) job.reject(error)
      return
    }
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
    // A StoreFault concerns all jobs of the commit, and a transaction that the database rolled back by itself
    // has no savepoint any more.
    if (error instanceof StoreFault) throw error
    await tx.executeQuery(ROLL_BACK)
    await tx.executeQuery(RELEASE)
    return () => job.reject(error)
  }
}
