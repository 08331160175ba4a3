import type { Database } from 'better-sqlite3'
import { withoutButtonKeys } from '../../../schemas/message-buttons.ts'
import type { Delivered } from '../message.ts'
import type { Outcome } from './decide-outcome.ts'
import type { Row } from './row.ts'

const KEPT = 2000
const ORPHANED_AFTER = 48 * 3_600_000

/**
 * Commits that these rows arrived. The channel's messages that failed because it was unreachable become due
 * at once.
 */
export function finishSent(
  database: Database,
  rows: readonly Row[],
  { upstreamId, notes }: Delivered,
  now: number,
): void {
  database
    .transaction(() => {
      const update = database.prepare(
        `update messages set status = 'sent', due = null, finished_at = ?, upstream_id = ?, notes = ?, failure = null,
           doubtful = 0, image = null, buttons = null where seq = ?`,
      )
      for (const { seq } of rows) update.run(now, upstreamId ?? null, JSON.stringify(notes), seq)
      database
        .prepare(
          `update messages set due = ? where channel = ? and status = 'retrying'
             and json_extract(failure, '$.kind') in ('unreachable', 'timeout')`,
        )
        .run(now, rows[0]?.channel)
      trim(database)
    })
    .immediate()
  if (rows.some(hasButtons)) overwriteButtons(database)
}

/** Commits the outcome of rows whose try failed. */
export function finishFailed(database: Database, rows: readonly Row[], outcome: Outcome, now: number): void {
  const { failure, due, status, finishedAt } =
    outcome.kind === 'failed'
      ? { ...outcome, due: null, status: 'failed', finishedAt: now }
      : { ...outcome, status: 'retrying', finishedAt: null }
  const isDoubtful = outcome.kind === 'retry' && outcome.isDoubtful
  const update = database.prepare(
    `update messages set status = @status, due = @due, finished_at = @finishedAt, failure = @failure,
       doubtful = max(doubtful, @doubtful), image = iif(@due is null, null, image),
       buttons = iif(@due is null, null, buttons)
     where seq = @seq`,
  )
  const values = {
    status,
    due,
    finishedAt,
    failure: withoutButtonKeys(JSON.stringify(failure)),
    doubtful: isDoubtful ? 1 : 0,
  }
  database
    .transaction(() => {
      for (const { seq } of rows) update.run({ ...values, seq })
      trim(database)
    })
    .immediate()
  if (status === 'failed' && rows.some(hasButtons)) overwriteButtons(database)
}

/** Empties the log ahead of the database, which still holds the keys of buttons that were deleted. */
export function overwriteButtons(database: Database): void {
  database.pragma('wal_checkpoint(TRUNCATE)')
}

function hasButtons({ buttons }: Row): boolean {
  return buttons.length > 0
}

/**
 * Prepares the outbox at a start: messages whose try was cut are due at once, and may have arrived; held ones
 * are decided again, since settings may have changed; those whose channel has not been configured for two
 * days fail.
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
      database.prepare("update messages set status = 'retrying', doubtful = 1 where status = 'sending'").run()
      database
        .prepare(`update messages set due = ? where status = 'held' and channel in (${marks})`)
        .run(now, ...channels)
      database
        .prepare(
          `update messages set status = 'failed', due = null, finished_at = ?, failure = ?, image = null, buttons = null
           where due is not null and created_at < ? and channel not in (${marks})`,
        )
        .run(now, JSON.stringify(failure), now - ORPHANED_AFTER, ...channels)
    })
    .immediate()
}

/** Deletes all but the newest finished messages. */
function trim(database: Database): void {
  database
    .prepare(
      `delete from messages where due is null and seq <=
         (select seq from messages where due is null order by seq desc limit 1 offset ?)`,
    )
    .run(KEPT)
}
