import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { type Row, readReceipts, type Status } from './row.ts'

const OPEN: readonly Status[] = ['waiting', 'sending']

/** Returns a message's row, without its image; undefined after the history has deleted it. */
export function findRow(database: Database, id: string): Row | undefined {
  return readReceipts(database, 'id = ?', id)[0]
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
export function findHistory(
  database: Database,
  { channel, statuses, since, limit, offset }: HistoryQuery,
): { rows: Row[]; total: number } {
  const condition = `(@channel is null or channel = @channel) and (@since is null or created_at >= @since)
    and (@statuses is null or status in (select value from json_each(@statuses)))`
  const given = {
    channel: channel ?? null,
    since: since ?? null,
    statuses: statuses === undefined ? null : JSON.stringify(statuses),
  }
  const total = Number(
    database.prepare(`select count(*) from messages where ${condition}`).pluck().get(given),
  )
  const page = `${condition} order by seq desc limit @limit offset @offset`
  return { rows: readReceipts(database, page, { ...given, limit, offset }), total }
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
  const [failed] = readReceipts(
    database,
    `channel = ? and status in ('failed', 'retrying')
       and coalesce(finished_at, tried_at, created_at) > ? order by seq desc limit 1`,
    channel,
    sentAt ?? 0,
  )
  return { waiting, sentAt: sentAt ?? undefined, failure: failed?.failure }
}
