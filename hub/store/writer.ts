import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from './tables.ts'

export type Tx = Transaction<Tables>

/**
 * Runs `job` in a transaction and resolves with its result once the commit is on the disk. Jobs that arrive together
 * share one commit; one that throws is undone alone and rejects alone. A job touches only the database.
 */
export type Write = <Result>(job: (tx: Tx) => Promise<Result>) => Promise<Result>

interface Job {
  run: (tx: Tx) => Promise<unknown>
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

const MOST_PER_COMMIT = 256

export function createWriter(db: Kysely<Tables>): Write {
  const queue: Job[] = []
  let draining = false
  const drain = async () => {
    while (queue.length > 0) await commitTogether(db, queue.splice(0, MOST_PER_COMMIT))
    draining = false
  }
  return run =>
    new Promise((resolve, reject) => {
      queue.push({ run, resolve, reject })
      if (draining) return
      draining = true
      // After the current round of I/O, so that what arrived in it shares the commit.
      setImmediate(() => void drain())
    })
}

async function commitTogether(db: Kysely<Tables>, jobs: Job[]): Promise<void> {
  const settle: (() => void)[] = []
  try {
    await db.transaction().execute(async tx => {
      const [only] = jobs
      if (only && jobs.length === 1) {
        const value = await only.run(tx)
        settle.push(() => only.resolve(value as never))
      } else {
        for (const job of jobs) settle.push(await runInSavepoint(tx, job))
      }
    })
  } catch (error) {
    for (const job of jobs) job.reject(error)
    return
  }
  for (const done of settle) done()
}

async function runInSavepoint(tx: Tx, job: Job): Promise<() => void> {
  await sql`savepoint job`.execute(tx)
  try {
    const value = await job.run(tx)
    await sql`release savepoint job`.execute(tx)
    return () => job.resolve(value as never)
  } catch (error) {
    await sql`rollback to savepoint job`.execute(tx)
    await sql`release savepoint job`.execute(tx)
    return () => job.reject(error)
  }
}
