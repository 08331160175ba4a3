import type { Database } from 'better-sqlite3'
import type { ChannelConfig } from '../config/channel-entry.ts'
import type { Earlier, Severity } from '../message.ts'
import { decideHold, decideQuiet } from './decide-hold.ts'
import { findPlace, type Place } from './replace.ts'
import { type Row, readRows } from './row.ts'

const MAX_BATCH = 50

/** Rows to send as one message, oldest first. */
export interface Claim {
  rows: readonly Row[]
  /** True if an earlier try may have arrived. */
  isDoubtful: boolean
  /** The message whose place the row takes. */
  earlier?: Earlier
}

/**
 * Marks the channel's next due message as being sent, in one commit; undefined if nothing may go out now.
 * Messages that have to wait become `held`.
 */
export function claimNext(database: Database, channel: ChannelConfig, now: number): Claim | undefined {
  return database
    .transaction(() => {
      for (;;) {
        const [row] = readRows(database, 'channel = ? and due <= ? order by seq limit 1', channel.name, now)
        if (row === undefined) return undefined
        if (row.replaces !== null) {
          const place = findPlace(database, row.replaces)
          if (place.kind === 'arrived') return { ...take(database, [row], now), earlier: place.earlier }
          waitOrDrop(database, row, place)
          continue
        }
        if (row.batch !== null) return take(database, findBatch(database, row.batch), now)
        const hold = decideHold({
          now,
          severity: row.severity,
          rules: channel.rules,
          sentAt: findSentAt(database, channel, row.severity),
          askedToWaitUntil: findAskedToWait(database, channel.name, now),
        })
        if (hold === undefined) {
          const rows = row.status === 'held' ? findHeld(database, channel, now) : [row]
          return take(database, rows, now)
        }
        database
          .prepare("update messages set status = 'held', hold = ?, due = ? where seq = ?")
          .run(hold.hold, hold.until, row.seq)
      }
    })
    .immediate()
}

/** Has a row wait for the message whose place it takes; drops it where nothing can take that place. */
function waitOrDrop(database: Database, { seq }: Row, place: Exclude<Place, { kind: 'arrived' }>): void {
  if (place.kind === 'gone') database.prepare('delete from messages where seq = ?').run(seq)
  else database.prepare('update messages set due = ? where seq = ?').run(place.until + 1, seq)
}

function findBatch(database: Database, batch: string): Row[] {
  return readRows(database, 'batch = ? and due is not null order by seq', batch)
}

/** Finds the held messages that may go now; they are sent as one batch. */
function findHeld(database: Database, { name, rules }: ChannelConfig, now: number): Row[] {
  const condition =
    "channel = ? and status = 'held' and batch is null and (due <= ? or hold <> 'quiet') order by seq limit ?"
  return readRows(database, condition, name, now, MAX_BATCH).filter(
    row => decideQuiet(now, row.severity, rules.quietHours) === undefined,
  )
}

/**
 * Finds when the last messages were sent. Critical ones count only critical ones, so that no flood of others
 * holds them.
 */
function findSentAt(database: Database, { name, rules }: ChannelConfig, severity: Severity): number[] {
  const like = severity === 'critical' ? "and severity = 'critical'" : ''
  return database
    .prepare(
      `select finished_at from messages
       where channel = ? and status = 'sent' and finished_at is not null and replaces is null ${like}
       group by batch order by finished_at desc limit ?`,
    )
    .pluck()
    .all(name, rules.limit.count)
    .map(Number)
}

/** Returns the unix milliseconds until which the channel's upstream asked not to be called. */
function findAskedToWait(database: Database, channel: string, now: number): number | undefined {
  const found = database
    .prepare(
      `select max(due) from messages where channel = ? and status = 'retrying' and due > ?
         and json_extract(failure, '$.kind') = 'rate_limited'`,
    )
    .pluck()
    .get(channel, now)
  return typeof found === 'number' ? found : undefined
}

function take(database: Database, rows: readonly Row[], now: number): Claim {
  const batch = rows[0]?.batch ?? rows[0]?.id
  const update = database.prepare(
    `update messages set status = 'sending', batch = ?, attempts = attempts + 1,
       tried_at = coalesce(tried_at, ?) where seq = ?`,
  )
  for (const { seq } of rows) update.run(batch, now, seq)
  const isDoubtful = rows.some(row => row.doubtful === 1 || row.status === 'sending')
  return { rows: batch === undefined ? [] : findBatch(database, batch), isDoubtful }
}

/** Returns the unix milliseconds at which one of these channels next has something to send. */
export function findNextDue(database: Database, channels: readonly string[]): number | undefined {
  const marks = channels.map(() => '?').join(', ')
  const found = database
    .prepare(`select min(due) from messages where channel in (${marks}) and status <> 'sending'`)
    .pluck()
    .get(channels)
  return typeof found === 'number' ? found : undefined
}
