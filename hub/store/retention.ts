import { type Kysely, type RawBuilder, sql } from 'kysely'
import { toIso } from '../core/clock.ts'
import { pruneAudit } from './audit-log.ts'
import type { Tables } from './tables.ts'
import type { Tx, Write } from './writer.ts'

/** Rows in one commit, few enough that nobody waits for long. */
const BATCH = 500
/** Cycles in one commit, each with its calls. */
const CYCLES = 100
/** Files in one commit; each has megabytes. */
const FILES = 20
const DAY = 86_400_000
/** Threads or conversations that are read at once. */
const PAGE = 50

export interface Horizons {
  /** Time before which rows are deleted. */
  before: number
  /** Time from which on repeated deliveries are absorbed. */
  onceBefore: number
  now: number
  /** Time before which files of messages are deleted. */
  filesBefore: number
  /** Time before which rows of the audit are deleted. */
  auditBefore: number
}

/**
 * Deletes what is older than the horizons, in small commits: handled inbox items, messages, what left the
 * windows, ended tasks, and what is over of everything else. Stops early when `signal` aborts; the rest goes
 * next time. Resolves with the number of rows that went.
 */
export async function prune(
  { db, write }: { db: Kysely<Tables>; write: Write },
  horizons: Horizons,
  signal: AbortSignal,
): Promise<number> {
  const { before, auditBefore, now } = horizons
  let total = 0
  const repeat = async (deleteSome: (tx: Tx) => Promise<number>, enough: number) => {
    let gone = enough
    while (gone >= enough && !signal.aborted) {
      gone = await write(deleteSome, 'relaxed')
      total += gone
    }
  }
  const { onceBefore } = horizons
  for await (const items of olderItems(db, onceBefore, signal))
    total += await write(tx => pruneItems(tx, items), 'relaxed')
  for (const statement of sweeps(horizons))
    await repeat(async tx => Number((await statement.execute(tx)).numAffectedRows), BATCH)
  await repeat(tx => pruneFiles(tx, horizons), FILES)
  await repeat(tx => pruneAudit(tx, { before: auditBefore, limit: BATCH, at: now }), BATCH)
  for await (const id of olderIds(db, 'conversations', before, signal))
    await repeat(tx => pruneMessages(tx, id, before), 1)
  for await (const id of olderIds(db, 'threads', before, signal))
    await repeat(tx => pruneThread(tx, id, before), 1)
  return total
}

/** Returns statements that delete what is over of each kind, at most BATCH rows. */
function sweeps({ before, onceBefore }: Horizons): RawBuilder<unknown>[] {
  const some = (table: string, over: RawBuilder<unknown>) =>
    sql`delete from ${sql.table(table)}
      where id in (select id from ${sql.table(table)} where ${over} limit ${BATCH})`
  const decided = sql`decided_at < ${before} and status <> 'open'`
  return [
    some(
      'events',
      sql`received_at < ${Math.min(before, onceBefore)} and status in ('handled', 'ignored', 'held')`,
    ),
    some('schedules', sql`coalesce(last_run, created_at) < ${before} and status in ('done', 'cancelled')`),
    some('approvals', decided),
    some('notifications', sql`created_at < ${before}`),
    sql`delete from approval_keys where created_at < ${before}`,
    some('dead_letters', decided),
    some('tokens', sql`coalesce(ended_at, expires_at) < ${before}`),
    // This day is earlier than that of `before` in whatever time zone.
    sql`delete from usage_days where day < ${toIso(before - DAY).slice(0, 10)}`,
  ]
}

/** Items of the inbox from one seq to another. */
interface Items {
  from: number
  to: number
}

/** Yields the inbox's oldest items, from the first on, as long as they came before. */
async function* olderItems(db: Kysely<Tables>, before: number, signal: AbortSignal): AsyncGenerator<Items> {
  for (let from = 0; !signal.aborted; ) {
    const page = await db
      .selectFrom('inbox')
      .select(['seq', 'created_at as at'])
      .where('seq', '>=', from)
      .orderBy('seq')
      .limit(BATCH)
      .execute()
    const to = lastOld(page, before)
    if (to === undefined) return
    yield { from, to }
    from = to + 1
  }
}

/** Deletes handled items. A dead letter or a running cycle may need its own. */
async function pruneItems(tx: Tx, { from, to }: Items): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from inbox where seq >= ${from} and seq <= ${to} and cycle_id is not null and cycle_id not in (
      select id from cycles where status = 'running'
      union select cycle_id from dead_letters where status = 'open')`.execute(tx)
  return Number(numAffectedRows)
}

/** Deletes old files, and those that no message came for within a day. */
async function pruneFiles(tx: Tx, { filesBefore, now }: Horizons): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from files where id in (select id from files
    where created_at < ${filesBefore} or (message_id is null and created_at < ${now - DAY}) limit ${FILES})`.execute(
    tx,
  )
  return Number(numAffectedRows)
}

/** Yields the ids of what was created before. */
async function* olderIds(
  db: Kysely<Tables>,
  table: 'conversations' | 'threads',
  before: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for (let last: string | undefined = ''; last !== undefined && !signal.aborted; ) {
    const page: { id: string }[] = await db
      .selectFrom(table)
      .select('id')
      .where('id', '>', last)
      .where('created_at', '<', before)
      .orderBy('id')
      .limit(PAGE)
      .execute()
    for (const { id } of page) yield id
    last = page.at(-1)?.id
  }
}

/** Returns the last seq of the oldest rows that are old enough; undefined if the first one is not. */
function lastOld(oldest: readonly { seq: number; at: number }[], before: number): number | undefined {
  const keep = oldest.findIndex(({ at }) => at >= before)
  return (keep === -1 ? oldest : oldest.slice(0, keep)).at(-1)?.seq
}

/** Deletes a conversation's oldest messages; they come first, so that no other row is read. */
async function pruneMessages(tx: Tx, conversation: string, before: number): Promise<number> {
  const messages = tx.selectFrom('messages').where('conversation_id', '=', conversation)
  const last = lastOld(await messages.select(['seq', 'at']).orderBy('seq').limit(BATCH).execute(), before)
  if (last === undefined) return 0
  const { numDeletedRows } = await tx
    .deleteFrom('messages')
    .where('conversation_id', '=', conversation)
    .where('seq', '<=', last)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/**
 * Deletes the oldest rows of a thread that nobody needs: its history before the window with its part of the
 * index, all sessions but the newest, cycles that ended with their calls; for a task that ended long ago
 * everything. Returns how many of a first few it deleted; it is called again until that is 0.
 */
async function pruneThread(tx: Tx, id: string, before: number): Promise<number> {
  const thread = await tx
    .selectFrom('threads')
    .select(['window_start', 'kind', 'ended_at'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!thread) return 0
  const isOver = thread.kind === 'task' && thread.ended_at !== null && thread.ended_at < before
  const windowStart = isOver ? Number.MAX_SAFE_INTEGER : thread.window_start
  const rows =
    (await pruneHistory(tx, id, before, windowStart)) || (await pruneCycles(tx, id, before, isOver))
  if (rows > 0) return rows
  const sessions = await pruneSessions(tx, id, before, isOver)
  if (isOver) await deleteThread(tx, id)
  return sessions
}

async function pruneHistory(tx: Tx, thread: string, before: number, windowStart: number): Promise<number> {
  const oldest = await tx
    .selectFrom('history')
    .select(['seq', 'created_at as at'])
    .where('thread_id', '=', thread)
    .where('seq', '<', windowStart)
    .orderBy('seq')
    .limit(BATCH)
    .execute()
  const last = lastOld(oldest, before)
  if (last === undefined) return 0
  await sql`delete from history_texts where thread_id = ${thread} and seq <= ${last}`.execute(tx)
  const gone = await sql`delete from history where thread_id = ${thread} and seq <= ${last}`.execute(tx)
  return Number(gone.numAffectedRows)
}

/** Deletes ended cycles but the newest of a thread that goes on, which tells since when it sleeps. */
async function pruneCycles(tx: Tx, thread: string, before: number, isOver: boolean): Promise<number> {
  const butNewest = sql`and started_at < (select max(started_at) from cycles where thread_id = ${thread})`
  const { rows } = await sql<{ id: string }>`
    select id from cycles where thread_id = ${thread} and status <> 'running'
      and started_at < ${before} and ended_at < ${before} ${isOver ? sql`` : butNewest}
      and id not in (select cycle_id from dead_letters where status = 'open')
      and id not in (select cycle_id from approvals where status = 'open')
    order by started_at limit ${CYCLES}`.execute(tx)
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return 0
  if (isOver) await tx.deleteFrom('inbox').where('cycle_id', 'in', ids).execute()
  await tx.deleteFrom('tool_calls').where('cycle_id', 'in', ids).execute()
  await tx.deleteFrom('cycles').where('id', 'in', ids).execute()
  return ids.length
}

/** Deletes old sessions but the newest of a thread that goes on, with which its window begins. */
async function pruneSessions(tx: Tx, thread: string, before: number, isOver: boolean): Promise<number> {
  const newest = tx
    .selectFrom('sessions')
    .select(eb => eb.fn.max('number').as('number'))
    .where('thread_id', '=', thread)
  const { numDeletedRows } = await tx
    .deleteFrom('sessions')
    .where('thread_id', '=', thread)
    .where('ended_at', '<', before)
    .$if(!isOver, query => query.where('number', '<', newest))
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Deletes a thread that has no cycle any more. */
async function deleteThread(tx: Tx, id: string): Promise<void> {
  const has = await tx.selectFrom('cycles').select('id').where('thread_id', '=', id).limit(1).execute()
  if (has.length > 0) return
  await sql`delete from context where scope = 'thread' and owner = ${id}`.execute(tx)
  // An ended task's last items were discarded, which its own id stands for.
  await sql`delete from inbox where cycle_id = ${id}`.execute(tx)
  await sql`delete from threads where id = ${id}`.execute(tx)
}
