import { type Kysely, sql } from 'kysely'
import { toIso } from '../core/clock.ts'
import { pruneThread } from './retention-thread.ts'
import type { Tables } from './tables.ts'
import type { Tx, Write } from './writer.ts'

/** Rows in one commit, few enough that nobody waits for long. */
const BATCH = 500
const DAY = 86_400_000
/** Threads or conversations that are read at once. */
const PAGE = 50

export interface Horizons {
  /** Time before which rows are deleted. */
  before: number
  /** Time from which on repeated deliveries are absorbed. */
  onceBefore: number
}

/** Deletes rows of one kind; tells how many of at most BATCH it deleted. */
type Sweep = (tx: Tx) => Promise<{ numDeletedRows: bigint }>

/**
 * Deletes what is older than the horizons, in small commits: handled inbox items, messages, what left the
 * windows, ended tasks, and what is over of everything else. Stops early when `signal` aborts; the rest goes
 * next time. Resolves with the number of rows that went.
 */
export async function prune(
  store: { db: Kysely<Tables>; write: Write },
  { before, onceBefore }: Horizons,
  signal: AbortSignal,
): Promise<number> {
  let total = await sweepAll(store.write, onceSweeps(onceBefore), signal)
  total += await sweepAll(store.write, agedSweeps(before, Math.min(before, onceBefore)), signal)
  total += await eachOf(store, 'conversations', before, signal, pruneMessages)
  total += await eachOf(store, 'threads', before, signal, pruneThread)
  return total
}

async function sweepAll(write: Write, sweeps: readonly Sweep[], signal: AbortSignal): Promise<number> {
  let total = 0
  for (const sweep of sweeps) {
    let gone = BATCH
    while (gone === BATCH && !signal.aborted) {
      gone = await write(async tx => Number((await sweep(tx)).numDeletedRows), 'relaxed')
      total += gone
    }
  }
  return total
}

/** Returns the sweep of handled inbox items, but those that a dead letter or a running cycle may need. */
function onceSweeps(before: number): Sweep[] {
  return [
    tx =>
      tx
        .deleteFrom('inbox')
        .where('seq', 'in', eb =>
          eb
            .selectFrom('inbox')
            .select('seq')
            .where('created_at', '<', before)
            .where('cycle_id', 'is not', null)
            .where('cycle_id', 'not in', openCycles(tx))
            .orderBy('seq')
            .limit(BATCH),
        )
        .executeTakeFirstOrThrow(),
  ]
}

function openCycles(db: Kysely<Tables>) {
  const running = db.selectFrom('cycles').select('id').where('status', '=', sql.lit('running'))
  return running.union(db.selectFrom('dead_letters').select('cycle_id as id').where('status', '=', 'open'))
}

/** Returns sweeps that delete only what is over of each kind. */
function agedSweeps(before: number, eventsBefore: number): Sweep[] {
  const over = {
    events: sql<boolean>`received_at < ${eventsBefore} and status in ('handled', 'ignored', 'held')`,
    schedules: sql<boolean>`coalesce(last_run, created_at) < ${before} and status in ('done', 'cancelled')`,
    approvals: sql<boolean>`decided_at < ${before} and status <> 'open'`,
    dead_letters: sql<boolean>`decided_at < ${before} and status <> 'open'`,
  }
  const sweep =
    (table: keyof typeof over): Sweep =>
    tx =>
      tx
        .deleteFrom(table)
        .where('id', 'in', tx.selectFrom(table).select('id').where(over[table]).limit(BATCH))
        .executeTakeFirstOrThrow()
  return [
    sweep('events'),
    sweep('schedules'),
    sweep('approvals'),
    sweep('dead_letters'),
    tx => tx.deleteFrom('usage_days').where('day', '<', toDay(before)).executeTakeFirstOrThrow(),
  ]
}

/** Returns a day that is earlier than that of `at` in whatever time zone. */
function toDay(at: number): string {
  return toIso(at - DAY).slice(0, 10)
}

/** Runs `pruneOne` on each row that is older, until nothing of it is left to delete. */
async function eachOf(
  store: { db: Kysely<Tables>; write: Write },
  table: 'conversations' | 'threads',
  before: number,
  signal: AbortSignal,
  pruneOne: (tx: Tx, id: string, before: number) => Promise<number>,
): Promise<number> {
  let total = 0
  for (let last = ''; !signal.aborted; ) {
    const page = await store.db
      .selectFrom(table)
      .select('id')
      .where('id', '>', last)
      .where('created_at', '<', before)
      .orderBy('id')
      .limit(PAGE)
      .execute()
    for (const { id } of page) {
      let gone = 1
      while (gone > 0 && !signal.aborted) {
        gone = await store.write(tx => pruneOne(tx, id, before), 'relaxed')
        total += gone
      }
    }
    const newest = page.at(-1)?.id
    if (newest === undefined) return total
    last = newest
  }
  return total
}

/** Deletes a conversation's oldest messages; they come first, so that no other row is read. */
async function pruneMessages(tx: Tx, conversation: string, before: number): Promise<number> {
  const oldest = await tx
    .selectFrom('messages')
    .select(['seq', 'at'])
    .where('conversation_id', '=', conversation)
    .orderBy('seq')
    .limit(BATCH)
    .execute()
  const keep = oldest.findIndex(({ at }) => at >= before)
  const last = oldest.at(keep === -1 ? -1 : keep - 1)
  if (keep === 0 || !last) return 0
  const { numDeletedRows } = await tx
    .deleteFrom('messages')
    .where('conversation_id', '=', conversation)
    .where('seq', '<=', last.seq)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
