import type { Clock } from '../core/clock.ts'
import type { DueSource } from '../core/due.ts'
import type { Log } from '../core/log.ts'
import { readAuditEnd } from '../store/audit-log.ts'
import { lastPruned, savePruned } from '../store/hub-state.ts'
import type { Store } from '../store/open.ts'
import { prune } from '../store/retention.ts'
import { archiveEnded, earliestEnded } from '../store/threads.ts'

const DAY_MS = 86_400_000
/** Milliseconds for which repeated deliveries are absorbed, whatever else is kept. */
const ONCE_MS = 30 * DAY_MS
/** Milliseconds from the start to the first pruning: a start has more urgent things to do. */
const AFTER_START_MS = 10 * 60_000
/** Milliseconds after its end until a task is archived. */
const ARCHIVE_AFTER_MS = 15 * DAY_MS

export interface RetentionDeps {
  store: Store
  clock: Clock
  log: Log
  /** Returns the number of days for which everything is kept, files, and the audit. */
  kept: () => { days: number; fileDays: number; auditDays: number }
}

/** Creates the source that deletes what is old once a day. `fire` does not wait for that, disposing does. */
export function createRetention(
  deps: RetentionDeps,
): DueSource & AsyncDisposable & { settled(): Promise<void> } {
  const { store, clock, log } = deps
  const stopping = new AbortController()
  const startedAt = clock.now()
  let next: number | undefined
  let running = Promise.resolve()

  const readNext = async () => {
    const last = await lastPruned(store.db)
    return Math.max(startedAt + AFTER_START_MS, last === undefined ? 0 : last + DAY_MS)
  }
  const run = async () => {
    const now = clock.now()
    const { days, fileDays, auditDays } = deps.kept()
    const horizons = {
      now,
      before: now - days * DAY_MS,
      onceBefore: now - ONCE_MS,
      filesBefore: now - fileDays * DAY_MS,
      auditBefore: now - auditDays * DAY_MS,
    }
    const rows = await prune(store, horizons, stopping.signal)
    if (stopping.signal.aborted) return
    await store.write(tx => savePruned(tx, now))
    log.info('pruned', { rows, days, fileDays, auditDays, audit: await readAuditEnd(store.db) })
  }
  return {
    async nextDue() {
      next ??= await readNext()
      // The system clock may have jumped back.
      next = Math.min(next, clock.now() + DAY_MS)
      return next
    },
    async fire() {
      next = clock.now() + DAY_MS
      running = running.then(run).catch(error => {
        if (!stopping.signal.aborted) log.error('prune_failed', { error })
      })
    },
    settled: () => running,
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await running
    },
  }
}

/** Creates the source that archives tasks that ended long ago; their history stays. */
export function createArchive({ store, clock }: Pick<RetentionDeps, 'store' | 'clock'>): DueSource {
  return {
    async nextDue() {
      const first = await earliestEnded(store.db)
      return first === undefined ? undefined : first + ARCHIVE_AFTER_MS
    },
    async fire() {
      await store.write(tx => archiveEnded(tx, clock.now() - ARCHIVE_AFTER_MS, clock.now()))
    },
  }
}
