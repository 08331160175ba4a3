import { type Kysely, sql } from 'kysely'
import { type AgentChanges, inParts } from './agents.ts'
import { statement } from './statement.ts'
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
    .orderBy('next_run')
    .orderBy('id')
    .execute()
}

export function activeSchedulesOf(db: Kysely<Tables>, thread: string): Promise<ScheduleRow[]> {
  return selectActive(db, { thread }).then(result => result.rows)
}

const selectActive = statement<{ thread: string }, ScheduleRow>((db, { thread }) =>
  db
    .selectFrom('schedules')
    .selectAll()
    .where('thread_id', '=', thread)
    .where('status', '=', 'active')
    .orderBy('next_run')
    .orderBy('id'),
)

export function findSchedule(db: Kysely<Tables>, id: string): Promise<ScheduleRow | undefined> {
  return db.selectFrom('schedules').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Returns due schedules, the longest due first; the random end of their ids mixes those of one instant. */
export async function dueSchedules(
  tx: Tx,
  now: number,
  limit: number,
): Promise<(ScheduleRow & { next_run: number })[]> {
  const rows = await tx
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
  return rows
}

/** Returns when the earliest active schedule is due; undefined if none is. */
export async function nextDue(db: Kysely<Tables>): Promise<number | undefined> {
  const row = await db
    .selectFrom('schedules')
    .select('next_run')
    .where('status', '=', 'active')
    .where('next_run', 'is not', null)
    .orderBy('next_run')
    .limit(1)
    .executeTakeFirst()
  return row?.next_run ?? undefined
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

/** Records the last run of a schedule: with `next` the schedule goes on, without it is done. */
export async function advanceSchedule(
  tx: Tx,
  id: string,
  ran: number | null,
  next: number | undefined,
): Promise<void> {
  await tx
    .updateTable('schedules')
    .set({
      last_run: ran,
      next_run: next ?? null,
      ...(next === undefined ? { status: 'done' as const } : {}),
    })
    .where('id', '=', id)
    .execute()
}

export async function setScheduleStatus(
  tx: Tx,
  id: string,
  change: { status: ScheduleRow['status']; nextRun?: number; missed?: ScheduleRow['missed'] },
): Promise<void> {
  const { status, nextRun, missed } = change
  await tx
    .updateTable('schedules')
    .set({
      status,
      ...(nextRun === undefined ? {} : { next_run: nextRun }),
      ...(missed === undefined ? {} : { missed }),
    })
    .where('id', '=', id)
    .execute()
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
