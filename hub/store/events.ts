import type { Kysely } from 'kysely'
import type { EventRow, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Records an event once by source and external id; false where it was there already. */
export async function recordEvent(tx: Tx, event: EventRow): Promise<boolean> {
  const result = await tx
    .insertInto('events')
    .values(event)
    .onConflict(oc => oc.columns(['source', 'external_id']).doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
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

/** Events whose threads have taken them are handled. */
export async function markHandled(tx: Tx, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await tx
    .updateTable('events')
    .set({ status: 'handled' })
    .where('id', 'in', ids)
    .where('status', '=', 'pending')
    .execute()
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
