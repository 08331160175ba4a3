import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { type Row, type Status, toRow } from './row.ts'

const OPEN: readonly Status[] = ['waiting', 'sending']

/** Returns a message's row; undefined after the history has deleted it. */
export function findRow(database: Database, id: string): Row | undefined {
  const found = database.prepare('select * from messages where id = ?').get(id)
  return found === undefined ? undefined : toRow(found)
}

/** Tells whether each of these messages has been sent, held or tried. */
export function areSettled(database: Database, ids: readonly string[]): boolean {
  return ids.every(id => {
    const row = findRow(database, id)
    return row === undefined || !OPEN.includes(row.status)
  })
}

export interface HistoryQuery {
  channel?: string | undefined
  statuses?: readonly Status[] | undefined
  /** Unix milliseconds. */
  since?: number | undefined
  limit: number
  offset: number
}

/** Returns messages newest first, without their images, and the total number of matches. */
export function findHistory(database: Database, query: HistoryQuery): { rows: Row[]; total: number } {
  const { channel, statuses, since } = query
  const conditions: { sql: string; values: readonly unknown[] }[] = [
    ...(channel === undefined ? [] : [{ sql: 'channel = ?', values: [channel] }]),
    ...(statuses === undefined
      ? []
      : [{ sql: `status in (${statuses.map(() => '?').join(', ')})`, values: statuses }]),
    ...(since === undefined ? [] : [{ sql: 'created_at >= ?', values: [since] }]),
  ]
  const where = conditions.length > 0 ? `where ${conditions.map(({ sql }) => sql).join(' and ')}` : ''
  const values = conditions.flatMap(one => one.values)
  const total = Number(
    database
      .prepare(`select count(*) from messages ${where}`)
      .pluck()
      .get(...values),
  )
  const rows = database
    .prepare(
      `select seq, id, channel, title, text, severity, null as image, image_type, image_url, repeats, status, hold, batch,
         attempts, doubtful, due, created_at, tried_at, finished_at, failure, upstream_id, notes
       from messages ${where} order by seq desc limit ? offset ?`,
    )
    .all(...values, query.limit, query.offset)
    .map(toRow)
  return { rows, total }
}

const figures = z.object({ waiting: z.number(), sent_at: z.number().nullable() })

/** Returns how many messages wait on a channel, when one last arrived, and the last failure since then. */
export function findFigures(database: Database, channel: string) {
  const { waiting, sent_at: sentAt } = figures.parse(
    database
      .prepare(
        `select count(due) as waiting, max(case when status = 'sent' then finished_at end) as sent_at
         from messages where channel = ?`,
      )
      .get(channel),
  )
  const failed = database
    .prepare(
      `select * from messages where channel = ? and status in ('failed', 'retrying')
         and coalesce(finished_at, tried_at, created_at) > ? order by seq desc limit 1`,
    )
    .get(channel, sentAt ?? 0)
  return {
    waiting,
    sentAt: sentAt ?? undefined,
    failure: failed === undefined ? undefined : toRow(failed).failure,
  }
}
