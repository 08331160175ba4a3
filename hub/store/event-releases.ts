import { type Kysely, sql } from 'kysely'
import type { EventRow, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** An event that goes, or went, to its recipients. */
export type ToldEvent = Pick<EventRow, 'id' | 'release_at' | 'is_storm' | 'status'> & { release_at: number }

/** The recent events of one type and key. */
export interface RecentEvents {
  /** Events that went out within the span, and those that still will, the newest first. */
  told: ToldEvent[]
  /** Times at which the oldest three events of the span came; an event that nobody took does not count. */
  oldest: number[]
}

const OLDEST = 3
const MOST_TOLD = 100

/**
 * Reads the recent events of a type and key. An event from after `now`, recorded before the clock was put
 * back, does not count.
 */
export async function recentEvents(
  tx: Tx,
  { type, key, now, within }: { type: string; key: string; now: number; within: number },
): Promise<RecentEvents> {
  const told = await tx
    .selectFrom('events')
    .select(['id', 'release_at', 'is_storm', 'status'])
    .where('type', '=', type)
    .where('key', '=', key)
    .where('release_at', 'is not', null)
    .where('release_at', '>', now - within)
    .where('received_at', '<=', now)
    .orderBy('release_at', 'desc')
    .limit(MOST_TOLD)
    .$narrowType<{ release_at: number }>()
    .execute()
  const oldest = await tx
    .selectFrom('events')
    .select('received_at')
    .where('type', '=', type)
    .where('key', '=', key)
    .where('received_at', '>', now - within)
    .where('received_at', '<=', now)
    .where('status', '!=', 'ignored')
    .orderBy('received_at')
    .limit(OLDEST)
    .execute()
  return { told, oldest: oldest.map(row => row.received_at) }
}

/** Returns events of these types that went to somebody since `since`, the newest first. */
export function toldSince(
  tx: Tx,
  { types, since, now }: { types: readonly string[]; since: number; now: number },
): Promise<EventRow[]> {
  return tx
    .selectFrom('events')
    .selectAll()
    .where('type', 'in', types)
    .where('release_at', '>', since)
    .where('release_at', '<=', now)
    .where('status', 'not in', ['held', 'ignored'])
    .orderBy('release_at', 'desc')
    .limit(MOST_TOLD)
    .execute()
}

/**
 * Returns when the next held event goes out; undefined if none waits. An event that is due after `latest`
 * counts as due.
 */
export async function nextRelease(
  db: Kysely<Tables>,
  { now, latest }: { now: number; latest: number },
): Promise<number | undefined> {
  const row = await db
    .selectFrom('events')
    .select(eb => [eb.fn.min('release_at').as('first'), eb.fn.max('release_at').as('last')])
    .where('status', '=', sql.lit('held'))
    .where('release_at', 'is not', null)
    .executeTakeFirst()
  const { first = null, last = null } = row ?? {}
  if (first === null || last === null) return undefined
  // A release time after `latest` means that the clock was put back.
  return last > latest ? now : first
}

/** Returns at most `limit` held events that are due, in the order in which they came. */
export function dueEvents(
  tx: Tx,
  { now, latest, limit }: { now: number; latest: number; limit: number },
): Promise<EventRow[]> {
  return tx
    .selectFrom('events')
    .selectAll()
    .where('status', '=', sql.lit('held'))
    .where('release_at', 'is not', null)
    .where(eb => eb.or([eb('release_at', '<=', now), eb('release_at', '>', latest)]))
    .orderBy('seq')
    .limit(limit)
    .execute()
}

/** Returns the newest payload held behind this event, of the same type and key, else its own. */
export async function newestBehind(tx: Tx, event: EventRow): Promise<Pick<EventRow, 'payload_json' | 'at'>> {
  const newest = await tx
    .selectFrom('events')
    .select(['payload_json', 'at'])
    .where('type', '=', event.type)
    .where('key', '=', event.key)
    .where('received_at', '>=', event.received_at)
    .where('seq', '>', event.seq)
    .where('status', '=', 'held')
    .where('release_at', 'is', null)
    .orderBy('received_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return newest ?? event
}

/** Records where a held event went. */
export async function recordRelease(
  tx: Tx,
  id: string,
  to: Pick<EventRow, 'status' | 'routed_to_json' | 'note'> & { release_at: number },
): Promise<void> {
  await tx.updateTable('events').set(to).where('id', '=', id).execute()
}
