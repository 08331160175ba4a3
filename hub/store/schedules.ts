import { type Kysely, sql } from 'kysely'
import { type AgentChanges, inParts } from './agents.ts'
import type { NewSchedule, ScheduleRow, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export async function createSchedule(tx: Tx, schedule: NewSchedule): Promise<void> {
  await tx.insertInto('schedules').values(schedule).execute()
}

/** Lists active and held schedules by their next run; with `agent`, only that agent's. */
export function listSchedules(db: Kysely<Tables>, agent?: string): Promise<ScheduleRow[]> {
  return db
    .selectFrom('schedules')
    .selectAll()
    .where('status', 'in', ['active', 'held'])
    .$if(agent !== undefined, query => query.where('agent', '=', agent ?? ''))
    .orderBy('next_run', order => order.asc().nullsFirst())
    .orderBy('id')
    .execute()
}

/** Returns the schedules that fired last, the newest first, also those that are over. */
export function firedSchedules(db: Kysely<Tables>, limit: number, agent?: string): Promise<ScheduleRow[]> {
  return db
    .selectFrom('schedules')
    .selectAll()
    .where('last_run', 'is not', null)
    .$if(agent !== undefined, query => query.where('agent', '=', agent ?? ''))
    .orderBy('last_run', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute()
}

export function activeSchedulesOf(db: Kysely<Tables>, thread: string): Promise<ScheduleRow[]> {
  return db
    .selectFrom('schedules')
    .selectAll()
    .where('thread_id', '=', thread)
    .where('status', '=', 'active')
    .orderBy('next_run', order => order.asc().nullsFirst())
    .orderBy('id')
    .execute()
}

export function findSchedule(db: Kysely<Tables>, id: string): Promise<ScheduleRow | undefined> {
  return db.selectFrom('schedules').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Returns due schedules, the longest due first; the random end of their ids mixes those of one instant. */
export function dueSchedules(
  tx: Tx,
  now: number,
  limit: number,
): Promise<(ScheduleRow & { next_run: number })[]> {
  return tx
    .selectFrom('schedules')
    .selectAll()
    .where('status', '=', 'active')
    .where('next_run', '<=', now)
    .orderBy('next_run')
    .orderBy(sql`substr(id, -8)`)
    .orderBy('id')
    .limit(limit)
    .$narrowType<{ next_run: number }>()
    .execute()
}

/** Returns when the earliest active schedule is due; undefined if none is. */
export async function nextDue(db: Kysely<Tables>): Promise<number | undefined> {
  const { rows } = await sql<{ at: number | null }>`
    select min(next_run) as at from schedules where status = 'active' and next_run is not null`.execute(db)
  return rows[0]?.at ?? undefined
}

/** Returns active schedules that an event may end early. */
export function schedulesWaitingForEvents(tx: Tx): Promise<ScheduleRow[]> {
  return tx
    .selectFrom('schedules')
    .selectAll()
    .where('status', '=', 'active')
    .where('wake_on_events_json', '!=', sql.lit('[]'))
    .orderBy('id')
    .execute()
}

/**
 * Records a run of a schedule: with `next` the schedule goes on, without it is done. Returns false, and
 * changes nothing, if it ran, was cancelled or held since `schedule` was read.
 */
export async function advanceSchedule(
  tx: Tx,
  { id, next_run: due }: Pick<ScheduleRow, 'id' | 'next_run'>,
  ran: number | null,
  next: number | undefined,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('schedules')
    .set({ last_run: ran, next_run: next ?? null, ...(next === undefined ? { status: 'done' } : {}) })
    .where('id', '=', id)
    .where('status', '=', 'active')
    .where('next_run', due === null ? 'is' : '=', due)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Cancels a schedule in one of the states `from`; undefined if there is none such. */
export function cancelSchedule(
  tx: Tx,
  id: string,
  { from, thread }: { from: readonly ScheduleRow['status'][]; thread?: string },
): Promise<ScheduleRow | undefined> {
  return tx
    .updateTable('schedules')
    .set({ status: 'cancelled' })
    .where('id', '=', id)
    .where('status', 'in', from)
    .$if(thread !== undefined, query => query.where('thread_id', '=', thread ?? ''))
    .returningAll()
    .executeTakeFirst()
}

/** Changes a schedule; returns false, and changes nothing, if its status is not the given one any more. */
export async function changeSchedule(
  tx: Tx,
  { id, status }: Pick<ScheduleRow, 'id' | 'status'>,
  change: Partial<Pick<ScheduleRow, 'status' | 'next_run' | 'missed'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('schedules')
    .set(change)
    .where('id', '=', id)
    .where('status', '=', status)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Holds the schedules of agents that went away, and frees those of agents that came back. */
export async function holdSchedules(tx: Tx, { came, went }: AgentChanges): Promise<void> {
  for (const [agents, from, to] of [
    [went, 'active', 'held'],
    [came, 'held', 'active'],
  ] as const) {
    for (const names of inParts(agents)) {
      await tx
        .updateTable('schedules')
        .set({ status: to })
        .where('status', '=', from)
        .where('agent', 'in', names)
        .execute()
    }
  }
}

/** Returns the schedules that agents' files ever asked for, ended ones too, by agent. */
export async function schedulesOfFiles(tx: Tx): Promise<Map<string, ScheduleRow[]>> {
  const rows = await tx
    .selectFrom('schedules')
    .selectAll()
    .where('created_by', '=', sql.lit('file'))
    .orderBy('agent')
    .execute()
  return Map.groupBy(rows, row => row.agent)
}
