import type { Kysely } from 'kysely'
import type { EventRow, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Its place among the others is given when it is recorded. */
export type NewEventRow = Omit<EventRow, 'seq'>

/** Records an event once by source and external id; false where it was there already. */
export async function recordEvent(tx: Tx, event: NewEventRow): Promise<boolean> {
  const { lastSeq } = await readEventFeed(tx)
  const result = await tx
    .insertInto('events')
    .values({ ...event, seq: lastSeq + 1 })
    .onConflict(oc => oc.columns(['source', 'external_id']).doNothing())
    .executeTakeFirst()
  const isNew = (result.numInsertedOrUpdatedRows ?? 0n) > 0n
  if (isNew)
    await tx
      .updateTable('event_feed')
      .set({ last_seq: lastSeq + 1 })
      .execute()
  return isNew
}

/** The id under which the places of events go on, and the newest place, 0 before the first event. */
export async function readEventFeed(db: Kysely<Tables>): Promise<{ stream: string; lastSeq: number }> {
  const row = await db.selectFrom('event_feed').select(['stream', 'last_seq']).executeTakeFirstOrThrow()
  return { stream: row.stream, lastSeq: row.last_seq }
}

/** The newest events first. */
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

/** At most `limit` events that came after place `after`, oldest first. */
export function eventsAfter(db: Kysely<Tables>, after: number, limit: number): Promise<EventRow[]> {
  return db.selectFrom('events').selectAll().where('seq', '>', after).orderBy('seq').limit(limit).execute()
}

/**
 * The newest event of a type and key that was not held, if it came within so long before `now`. One that somebody got
 * goes before one that was ignored.
 */
export function newestOfKind(
  tx: Tx,
  kind: { type: string; key: string; now: number; within: number },
): Promise<EventRow | undefined> {
  // One from the future, after the clock was put back, holds nothing for long.
  const [from, until] = [kind.now - kind.within, kind.now + kind.within]
  return tx
    .selectFrom('events')
    .selectAll()
    .where('type', '=', kind.type)
    .where('key', '=', kind.key)
    .where('received_at', '>', from)
    .where('received_at', '<', until)
    .where('status', '!=', 'held')
    .orderBy(eb => eb('status', '=', 'ignored'))
    .orderBy('received_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The event of a source by the id that it has there. */
export function eventBy(tx: Tx, source: string, externalId: string): Promise<EventRow | undefined> {
  return tx
    .selectFrom('events')
    .selectAll()
    .where('source', '=', source)
    .where('external_id', '=', externalId)
    .executeTakeFirst()
}

/** The newest event of a source whose id begins with `subject`, which ends in `/`, if it came within so long before `now`. */
export function newestOfSubject(
  tx: Tx,
  of: { source: string; subject: string; now: number; within: number },
): Promise<EventRow | undefined> {
  // One from the future, after the clock was put back, holds nothing for long.
  const [from, until] = [of.now - of.within, of.now + of.within]
  return tx
    .selectFrom('events')
    .selectAll()
    .where('source', '=', of.source)
    .where('external_id', '>=', of.subject)
    .where('external_id', '<', `${of.subject.slice(0, -1)}0`)
    .where('received_at', '>', from)
    .where('received_at', '<', until)
    .orderBy('received_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Another of the same type and key was held. */
export async function countRepeat(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('events')
    .set(eb => ({ repeats: eb('repeats', '+', 1) }))
    .where('id', '=', id)
    .execute()
}

/** A cycle has taken the events; how often each was repeated by then. */
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

// Items of events have its id as their external id, with the schedule behind it where it woke one.
const SOURCES = ['event', 'schedule']

/** A cycle has ended: of the events that it took, those that no other thread still has before it are handled. */
export async function settleEventsOf(tx: Tx, cycle: string): Promise<void> {
  const rows = await tx
    .selectFrom('inbox')
    .select('external_id')
    .where('cycle_id', '=', cycle)
    .where('source', 'in', SOURCES)
    .where('external_id', 'like', 'evt%')
    .execute()
  await settleEvents(
    tx,
    rows.map(row => row.external_id.split(':')[0] ?? ''),
  )
}

/** A cycle that took the events has ended: those that no other thread still has before it are handled. */
export async function settleEvents(tx: Tx, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    if (await isOpen(tx, id)) continue
    await tx
      .updateTable('events')
      .set({ status: 'handled' })
      .where('id', '=', id)
      .where('status', '=', 'processing')
      .execute()
  }
}

/** Whether some thread has not taken the event yet, or its cycle still runs. */
async function isOpen(tx: Tx, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('inbox')
    .leftJoin('cycles', 'cycles.id', 'inbox.cycle_id')
    .select('inbox.seq')
    .where('inbox.source', 'in', SOURCES)
    .where('inbox.external_id', '>=', id)
    .where('inbox.external_id', '<', `${id};`)
    .where(eb => eb.or([eb('inbox.cycle_id', 'is', null), eb('cycles.status', '=', 'running')]))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export interface EventCursor {
  stream: string
  cursor: number
}

/** How far the feed of a server was read; undefined before the first time. */
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
