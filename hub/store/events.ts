import { type Insertable, type Kysely, sql } from 'kysely'
import type { EventRow, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** An event without its seq, which it gets when it is recorded. */
export type NewEventRow = Omit<Insertable<Tables['events']>, 'seq'>

/** Makes other events wait for this transaction: whether one is held depends on those before it. */
export async function lockEvents(tx: Tx): Promise<void> {
  await moveFeed(tx, 0)
}

/** Records an event once by source and external id; returns false if it was there already. */
export async function recordEvent(tx: Tx, event: NewEventRow): Promise<boolean> {
  const seq = await moveFeed(tx, 1)
  const result = await tx
    .insertInto('events')
    .values({ ...event, seq })
    .onConflict(oc => oc.columns(['source', 'external_id']).doNothing())
    .executeTakeFirstOrThrow()
  const isNew = result.numInsertedOrUpdatedRows !== 0n
  if (!isNew) await moveFeed(tx, -1)
  return isNew
}

/** Adds to the newest seq, which the transaction keeps for itself from then on; returns the new one. */
async function moveFeed(tx: Tx, by: number): Promise<number> {
  const feed = await tx
    .updateTable('event_feed')
    .set(eb => ({ last_seq: eb('last_seq', '+', by) }))
    .returning('last_seq')
    .executeTakeFirstOrThrow()
  return feed.last_seq
}

/** Returns the id under which the events' seqs continue, and the newest seq, 0 before the first event. */
export async function readEventFeed(db: Kysely<Tables>): Promise<{ stream: string; lastSeq: number }> {
  const row = await db.selectFrom('event_feed').select(['stream', 'last_seq']).executeTakeFirstOrThrow()
  return { stream: row.stream, lastSeq: row.last_seq }
}

/** Lists the events, the newest first. */
export function listEvents(
  db: Kysely<Tables>,
  filter: { type?: string | undefined; status?: EventRow['status'] | undefined; limit: number },
): Promise<EventRow[]> {
  return db
    .selectFrom('events')
    .selectAll()
    .$if(filter.type !== undefined, query => query.where('type', '=', filter.type ?? ''))
    .$if(filter.status !== undefined, query => query.where('status', '=', filter.status ?? 'pending'))
    .orderBy('received_at', 'desc')
    .orderBy('id', 'desc')
    .limit(filter.limit)
    .execute()
}

/** Returns at most `limit` events after seq `after`, oldest first. */
export function eventsAfter(db: Kysely<Tables>, after: number, limit: number): Promise<EventRow[]> {
  return db.selectFrom('events').selectAll().where('seq', '>', after).orderBy('seq').limit(limit).execute()
}

/** Selects events that came less than `within` milliseconds before `now`. */
function selectRecent(tx: Tx, { now, within }: { now: number; within: number }) {
  // The upper bound limits how long an event from the future holds others, after the clock was put back.
  return tx
    .selectFrom('events')
    .selectAll()
    .where('received_at', '>', now - within)
    .where('received_at', '<', now + within)
}

/**
 * Returns the newest event of a type and key that was not held and came less than `within` milliseconds
 * before `now`. An event that somebody got goes before one that was ignored.
 */
export function newestOfKind(
  tx: Tx,
  kind: { type: string; key: string; now: number; within: number },
): Promise<EventRow | undefined> {
  return selectRecent(tx, kind)
    .where('type', '=', kind.type)
    .where('key', '=', kind.key)
    .where('status', '!=', 'held')
    .orderBy(eb => eb('status', '=', 'ignored'))
    .orderBy('received_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Returns the event of a source by the id that it has there. */
export function eventBy(tx: Tx, source: string, externalId: string): Promise<EventRow | undefined> {
  return tx
    .selectFrom('events')
    .selectAll()
    .where('source', '=', source)
    .where('external_id', '=', externalId)
    .executeTakeFirst()
}

/**
 * Returns the newest event of a source whose id begins with `subject`, which ends in `/`, if it came less
 * than `within` milliseconds before `now`.
 */
export function newestOfSubject(
  tx: Tx,
  of: { source: string; subject: string; now: number; within: number },
): Promise<EventRow | undefined> {
  return selectRecent(tx, of)
    .where('source', '=', of.source)
    .where('external_id', '>=', of.subject)
    .where('external_id', '<', `${of.subject.slice(0, -1)}0`)
    .orderBy('received_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Counts one more held event of the same type and key. */
export async function countRepeat(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('events')
    .set(eb => ({ repeats: eb('repeats', '+', 1) }))
    .where('id', '=', id)
    .execute()
}

/** Records that a cycle has taken the events; returns how often each was repeated by then. */
export async function takeEvents(tx: Tx, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map()
  const rows = await tx
    .updateTable('events')
    .set({ status: 'processing' })
    .where('id', 'in', ids)
    .returning(['id', 'repeats'])
    .execute()
  return new Map(rows.map(row => [row.id, row.repeats]))
}

/** Marks the events that an ended cycle took as handled, unless another thread still has them to do. */
export async function settleEventsOf(tx: Tx, cycle: string): Promise<void> {
  // Inbox items of an event have its id as external id, followed by the schedule that it woke, if any.
  const rows = await tx
    .selectFrom('inbox')
    .select('external_id')
    .where('cycle_id', '=', cycle)
    .where('source', 'in', ['event', 'schedule'])
    .where('external_id', 'like', 'evt%')
    .execute()
  await settleEvents(
    tx,
    rows.map(row => row.external_id.split(':')[0] ?? ''),
  )
}

/** Marks the events that an ended cycle took as handled, unless another thread still has them to do. */
export async function settleEvents(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update events set status = 'handled' where status = 'processing' and id in (${sql.join(ids)})
      and not exists (
        select 1 from inbox left join cycles on cycles.id = inbox.cycle_id
        where inbox.source in ('event', 'schedule')
          and inbox.external_id >= events.id and inbox.external_id < events.id || ';'
          and (inbox.cycle_id is null or cycles.status = 'running'))`.execute(tx)
}

export interface EventCursor {
  stream: string
  cursor: number
}

/** Returns how far the feed of a server was read; undefined before the first time. */
export function readCursor(db: Kysely<Tables>, server: string): Promise<EventCursor | undefined> {
  return db
    .selectFrom('event_cursors')
    .select(['stream', 'cursor'])
    .where('server', '=', server)
    .executeTakeFirst()
}

export async function saveCursor(tx: Tx, server: string, at: EventCursor): Promise<void> {
  await tx
    .insertInto('event_cursors')
    .values({ server, ...at })
    .onConflict(oc => oc.column('server').doUpdateSet(at))
    .execute()
}
