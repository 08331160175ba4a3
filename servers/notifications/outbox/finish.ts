import type { Database } from 'better-sqlite3'
import type { Delivered } from '../message.ts'
import type { Outcome } from './decide-outcome.ts'
import type { Row } from './row.ts'

const KEPT = 2000
const ORPHANED_AFTER = 48 * 3_600_000

/** Commits that these rows arrived; others of the channel that could not reach it are due at once. */
export function finishSent(database: Database, rows: readonly Row[], told: Delivered, now: number): void {
  database
    .transaction(() => {
      const update = database.prepare(
        `update messages set status = 'sent', due = null, finished_at = ?, upstream_id = ?, notes = ?, failure = null,
           doubtful = 0, image = null where seq = ?`,
      )
      for (const { seq } of rows) update.run(now, told.upstreamId ?? null, JSON.stringify(told.notes), seq)
      database
        .prepare(
          `update messages set due = ? where channel = ? and status = 'retrying'
             and json_extract(failure, '$.kind') in ('unreachable', 'timeout')`,
        )
        .run(now, rows[0]?.channel)
      trim(database)
    })
    .immediate()
}

/** Commits what becomes of rows whose try failed. */
export function finishFailed(database: Database, rows: readonly Row[], outcome: Outcome, now: number): void {
  const failure = JSON.stringify(outcome.failure)
  database
    .transaction(() => {
      for (const row of rows) {
        if (outcome.kind === 'failed') {
          database
            .prepare(
              "update messages set status = 'failed', due = null, finished_at = ?, failure = ?, image = null where seq = ?",
            )
            .run(now, failure, row.seq)
        } else {
          const isDoubtful = outcome.isDoubtful || row.doubtful === 1
          database
            .prepare(
              "update messages set status = 'retrying', due = ?, failure = ?, doubtful = ? where seq = ?",
            )
            .run(outcome.due, failure, isDoubtful ? 1 : 0, row.seq)
        }
      }
      trim(database)
    })
    .immediate()
}

/** Gives rows back whose try was cut because this process ends: they are due at once, and may have arrived. */
export function release(database: Database, rows: readonly Row[], now: number): void {
  const update = database.prepare(
    "update messages set status = 'retrying', due = ?, doubtful = 1 where seq = ? and status = 'sending'",
  )
  database.transaction(() => rows.map(({ seq }) => update.run(now, seq))).immediate()
}

/**
 * At a start: what is held is looked at again, since settings may have changed; what waits for a channel that nobody has
 * configured for two days is given up.
 */
export function resume(database: Database, channels: readonly string[], now: number): void {
  const marks = channels.map(() => '?').join(', ')
  const failure = {
    what: 'It was never sent.',
    where: 'its channel',
    why: 'no channel of this name is configured any more',
    fix: 'Configure the channel again, or send it on another.',
  }
  database
    .transaction(() => {
      database
        .prepare(`update messages set due = ? where status = 'held' and channel in (${marks})`)
        .run(now, ...channels)
      database
        .prepare(
          `update messages set status = 'failed', due = null, finished_at = ?, failure = ?, image = null
           where due is not null and created_at < ? and channel not in (${marks})`,
        )
        .run(now, JSON.stringify(failure), now - ORPHANED_AFTER, ...channels)
    })
    .immediate()
}

/** The history keeps the newest that are done with. */
function trim(database: Database): void {
  database
    .prepare(
      `delete from messages where due is null and seq <=
         (select seq from messages where due is null order by seq desc limit 1 offset ?)`,
    )
    .run(KEPT)
}
