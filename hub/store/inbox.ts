import { type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import { type InboxPayload, inboxPayload } from '../../schemas/inbox.ts'
import type { Power } from '../../schemas/power.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Source of items that join the thread's next inbox and begin no cycle. */
export const QUIET_SOURCE = 'task_note'

export interface NewInboxItem {
  thread: string
  source: string
  externalId: string
  payload: InboxPayload
  power: Power
  /** Whether work that has read text from outside made it. */
  hasReadForeign?: boolean | undefined
  conversation?: string | undefined
  at: number
}

export interface InboxItem {
  seq: number
  payload: InboxPayload
  power: Power
  hasReadForeign?: boolean
  conversation: string | null
  at: number
}

/** Posts an item once by thread, source and external id; returns false if it was there already. */
export async function postItem(tx: Tx, item: NewInboxItem): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into "inbox"
      (thread_id, source, external_id, payload_json, power, read_foreign, conversation_id, created_at, unanswered)
    values (${item.thread}, ${item.source}, ${item.externalId}, ${JSON.stringify(item.payload)},
      ${item.power}, ${item.hasReadForeign ? 1 : 0}, ${item.conversation ?? null}, ${item.at}, ${item.payload.kind === 'message' ? 'new' : null})
    on conflict (source, external_id, thread_id) do nothing`.execute(tx)
  return numAffectedRows !== 0n
}

/**
 * Returns what waits for the thread, in the order in which a batch takes it: resets and people's messages,
 * then everything else, each in the order of arrival. The items stay there.
 */
export async function nextItems(tx: Tx, thread: string): Promise<InboxItem[]> {
  // Two statements cost a tenth of one with a sort by kind, which would need a temporary table.
  const next = (kind: RawBuilder<SqlBool>) =>
    selectItems(tx)
      .where('thread_id', '=', thread)
      .where('cycle_id', 'is', null)
      .where(kind)
      .limit(MOST_ITEMS)
      .execute()
  const first = await next(sql`(unanswered is not null or source = 'reset')`)
  const rest = first.length < MOST_ITEMS ? await next(sql`(unanswered is null and source <> 'reset')`) : []
  return [...first, ...rest].map(toItem)
}

/** Items of each kind that a batch looks at; a window rarely holds more. */
const MOST_ITEMS = 500

function selectItems(db: Kysely<Tables>) {
  return db
    .selectFrom('inbox')
    .select(['seq', 'payload_json', 'power', 'read_foreign', 'conversation_id', 'created_at'])
    .orderBy('seq')
}

/** Takes items out of the inbox into the cycle. */
export async function takeItems(tx: Tx, cycle: string, items: readonly InboxItem[]): Promise<void> {
  const seqs = items.map(({ seq }) => seq)
  if (seqs.length === 0) return
  await tx.updateTable('inbox').set({ cycle_id: cycle }).where('seq', 'in', seqs).execute()
}

/** Puts items that a cycle took, and did not come to, back into the inbox. */
export async function giveBackItems(tx: Tx, cycle: string, items: readonly InboxItem[]): Promise<void> {
  const seqs = items.map(({ seq }) => seq)
  if (seqs.length === 0) return
  await tx
    .updateTable('inbox')
    .set({ cycle_id: null })
    .where('cycle_id', '=', cycle)
    .where('seq', 'in', seqs)
    .execute()
}

/** Returns everything that a cycle took, in order. */
export async function itemsOfCycle(db: Kysely<Tables>, cycle: string): Promise<InboxItem[]> {
  const rows = await selectItems(db).where('cycle_id', '=', cycle).execute()
  return rows.map(toItem)
}

/** Returns an item of the thread's inbox, waiting or taken; undefined if there is none. */
export async function readItem(
  db: Kysely<Tables>,
  thread: string,
  seq: number,
): Promise<InboxItem | undefined> {
  const row = await selectItems(db).where('seq', '=', seq).where('thread_id', '=', thread).executeTakeFirst()
  return row && toItem(row)
}

/** Returns what waits for the thread, in order; it stays there. */
export async function waitingItems(db: Kysely<Tables>, thread: string): Promise<InboxItem[]> {
  const rows = await selectItems(db).where('thread_id', '=', thread).where('cycle_id', 'is', null).execute()
  return rows.map(toItem)
}

/** Returns the ids of the people's messages that a cycle took, in order. */
export async function messagesTakenBy(db: Kysely<Tables>, cycle: string): Promise<string[]> {
  const items = await itemsOfCycle(db, cycle)
  return items.flatMap(({ payload }) => (payload.kind === 'message' ? [payload.messageId] : []))
}

/** Tells whether something waits in the inbox of the thread. */
export async function hasWaiting(db: Kysely<Tables>, thread: string): Promise<boolean> {
  const row = await db
    .selectFrom('inbox')
    .select('seq')
    .where('thread_id', '=', thread)
    .where('cycle_id', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Tells whether an item of a person's power waits that wakes the thread. */
export async function hasPersonWaiting(db: Kysely<Tables>, thread: string): Promise<boolean> {
  const row = await db
    .selectFrom('inbox')
    .select('seq')
    .where('thread_id', '=', thread)
    .where('cycle_id', 'is', null)
    .where('power', '=', 'person')
    .where('source', '!=', QUIET_SOURCE)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Counts the waiting items of each thread that has some; `oldest` is when the first of them came. */
export async function waitingCounts(
  db: Kysely<Tables>,
): Promise<{ thread: string; count: number; oldest: number }[]> {
  const rows = await db
    .selectFrom('inbox')
    .select(eb => [
      'thread_id as thread',
      eb.fn.countAll<number>().as('count'),
      eb.fn.min('created_at').as('oldest'),
    ])
    .where('cycle_id', 'is', null)
    .groupBy('thread_id')
    .orderBy('thread_id')
    .execute()
  return rows.map(row => ({ thread: row.thread, count: Number(row.count), oldest: Number(row.oldest) }))
}

function toItem(
  row: Pick<
    Selectable<Tables['inbox']>,
    'seq' | 'payload_json' | 'power' | 'read_foreign' | 'conversation_id' | 'created_at'
  >,
): InboxItem {
  return {
    seq: row.seq,
    payload: inboxPayload.parse(JSON.parse(row.payload_json)),
    power: row.power,
    ...(row.read_foreign === 1 ? { hasReadForeign: true } : {}),
    conversation: row.conversation_id,
    at: row.created_at,
  }
}

/** Returns the authors of the messages that a cycle took, each once. */
export async function authorsOfCycle(db: Kysely<Tables>, cycle: string): Promise<string[]> {
  const rows = await db.selectFrom('inbox').select('payload_json').where('cycle_id', '=', cycle).execute()
  const items = rows.map(({ payload_json }) => inboxPayload.parse(JSON.parse(payload_json)))
  return [...new Set(items.flatMap(item => (item.kind === 'message' ? [item.author] : [])))]
}
