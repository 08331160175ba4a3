import { CompiledQuery, type Kysely, type Transaction } from 'kysely'
import { sleep, systemClock } from '../core/clock.ts'
import type { Dialect } from './dialect.ts'
import { StoreFault } from './store-fault.ts'
import type { StoreMark } from './store-mark.ts'
import type { Tables } from './tables.ts'

export type Tx = Transaction<Tables>

/**
 * Runs `job` in a transaction and resolves with its result once the commit is on the disk. Jobs that arrive
 * together share one commit; one that throws is undone alone and rejects alone. A job touches only the
 * database.
 *
 * `relaxed` is for writes that follow from data on the disk and would be done again from it: their commit
 * survives the end of the process, and reaches the disk with the next one that is not relaxed.
 */
export type Write = <Result>(
  job: (tx: Tx) => Promise<Result>,
  durability?: 'disk' | 'relaxed',
) => Promise<Result>

interface Job {
  relaxed: boolean
  run: (tx: Tx) => Promise<unknown>
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

const MOST_PER_COMMIT = 256
/**
 * Milliseconds that a commit waits for another process that keeps the database locked, and milliseconds
 * between its looks.
 */
const LOCKED_MS = 5_000
const LOOK_AGAIN_MS = 50

export function createWriter(
  db: Kysely<Tables>,
  dialect: Dialect,
  mark?: Pick<StoreMark, 'count' | 'write'>,
): Write {
  const queue: Job[] = []
  let draining = false
  let relaxed = false
  const relax = CompiledQuery.raw(dialect.relaxCommits)
  const sync = CompiledQuery.raw(dialect.syncCommits)
  const prepare = async (jobs: Job[]) => {
    const wanted = jobs.every(job => job.relaxed)
    if (wanted === relaxed) return
    await db.executeQuery(wanted ? relax : sync)
    relaxed = wanted
  }
  const drain = async () => {
    while (queue.length > 0) await commitTogether(db, queue.splice(0, MOST_PER_COMMIT), prepare, mark)
    draining = false
  }
  return (run, durability = 'disk') =>
    new Promise((resolve, reject) => {
      queue.push({ run, resolve, reject, relaxed: durability === 'relaxed' })
      if (draining) return
      draining = true
      // The commit starts after the current round of I/O, so that jobs that arrived in it share it.
      setImmediate(() => void drain())
    })
}

async function commitTogether(
  db: Kysely<Tables>,
  jobs: Job[],
  prepare: (jobs: Job[]) => Promise<void>,
  mark: Pick<StoreMark, 'count' | 'write'> | undefined,
): Promise<void> {
  const settle: (() => void)[] = []
  const isDurable = jobs.some(job => !job.relaxed)
  let commits: number | undefined
  try {
    await prepare(jobs)
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
  for (const done of settle) done()
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
      await sleep(systemClock, LOOK_AGAIN_MS)
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
