import type { Database } from 'better-sqlite3'
import type { ChannelConfig } from '../config/channel-entry.ts'
import type { Earlier } from '../message.ts'
import { type Accepted, insert, toDedupe } from './accept.ts'
import { overwriteButtons } from './finish.ts'
import { readReceipts } from './row.ts'

/**
 * `accepted`: it takes the earlier message's place. `withdrawn`: that message had not gone out, and will not. `nothing`: there is
 * no earlier message, or it stays.
 */
export type Replaced = 'accepted' | 'withdrawn' | 'nothing'

/**
 * Commits that a message takes the place of the channel's last one with its key, once. `canReplace` tells whether the channel can
 * change what it has sent.
 */
export function replace(
  database: Database,
  given: Accepted,
  { channel, canReplace }: { channel: ChannelConfig; canReplace: boolean },
  newId: () => string,
): Replaced {
  const commit = (): Replaced => {
    const condition = 'channel = ? and dedupe = ? order by seq desc limit 1'
    const [earlier] = readReceipts(database, condition, channel.name, toDedupe(given))
    if (earlier === undefined || earlier.status === 'failed') return 'nothing'
    const mayBeOut = ['sending', 'sent'].includes(earlier.status) || earlier.doubtful === 1
    if (!mayBeOut) {
      database.prepare('delete from messages where seq = ?').run(earlier.seq)
      return 'withdrawn'
    }
    if (!canReplace) return 'nothing'
    const isKnown = readReceipts(database, 'replaces = ?', earlier.id).length > 0
    const id = newId()
    const row = { id, request: id, channel, missed: 0, replaces: earlier.id }
    if (!isKnown) insert(database, { ...given, key: id }, row)
    return 'accepted'
  }
  const replaced = database.transaction(commit).immediate()
  if (replaced === 'withdrawn') overwriteButtons(database)
  return replaced
}

/** Whether the earlier message, whose place a row takes, can be replaced now. */
export type Place =
  | { kind: 'arrived'; earlier: Earlier }
  /** `until`: unix milliseconds of its next try. */
  | { kind: 'waits'; until: number }
  /** It never arrived, its upstream has no id for it, or it is one of a list. */
  | { kind: 'gone' }

export function findPlace(database: Database, id: string): Place {
  const [row] = readReceipts(database, 'id = ?', id)
  if (row === undefined) return { kind: 'gone' }
  const { due, status, batch, upstream_id: upstreamId } = row
  if (due !== null) return { kind: 'waits', until: due }
  const isAlone = readReceipts(database, 'batch = ?', batch).length === 1
  if (status !== 'sent' || upstreamId === null || !isAlone) return { kind: 'gone' }
  return { kind: 'arrived', earlier: { id: batch ?? id, upstreamId } }
}
