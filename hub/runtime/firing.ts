import type { EventFact } from '../../schemas/inbox.ts'
import { lowest, type Power } from '../../schemas/power.ts'
import type { Clock } from '../core/clock.ts'
import { decideOccurrences } from '../core/schedule-plan.ts'
import { postItem } from '../store/inbox.ts'
import type { Store } from '../store/open.ts'
import { advanceSchedule, dueSchedules } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'

/** Schedules that fire in one turn: many agents wake at eight, and the others follow. */
const TURN = 16

export interface Fired {
  threads: string[]
  agents: string[]
  /** Whether other schedules are due that did not fit into this turn. */
  more: boolean
}

/**
 * Posts the occurrences of schedules that are due, the longest due first and those of one instant in a mixed
 * order that stays the same. Posting and advancing are one commit, so that each occurrence fires once.
 */
export async function fireDue({ store, clock }: { store: Store; clock: Clock }): Promise<Fired> {
  const now = clock.now()
  const { fired, more } = await store.write(async tx => {
    const due = await dueSchedules(tx, now, TURN + 1)
    const turn = due.slice(0, TURN)
    const posted: ScheduleRow[] = []
    for (const schedule of turn) if (await fire(tx, schedule, now)) posted.push(schedule)
    return { fired: { turn, posted }, more: due.length > TURN }
  })
  return {
    threads: fired.posted.map(schedule => schedule.thread_id),
    agents: [...new Set(fired.turn.map(schedule => schedule.agent))],
    more,
  }
}

/**
 * Posts the due occurrences of a schedule that still is as it was read. Tells whether there was one: missed
 * occurrences may be skipped.
 */
async function fire(tx: Tx, schedule: ScheduleRow & { next_run: number }, now: number): Promise<boolean> {
  const { cron, timezone, missed, next_run: nextRun } = schedule
  const { fire: dueAts, next } = decideOccurrences({ cron, timezone, missed, nextRun }, now)
  const ran = dueAts.length > 0 ? now : schedule.last_run
  if (!(await advanceSchedule(tx, schedule, ran, next))) return false
  for (const dueAt of dueAts) await post(tx, schedule, { dueAt, externalId: `${schedule.id}@${dueAt}`, now })
  return dueAts.length > 0
}

/**
 * Fires a schedule because an event came first: a one-shot is over, a cron keeps its next time. An event from
 * outside lowers the power, one of the house does not.
 */
export async function fireEarly(
  tx: Tx,
  schedule: ScheduleRow,
  early: EventFact,
  { now, power }: { now: number; power: Power },
): Promise<void> {
  const next = schedule.cron === null ? undefined : (schedule.next_run ?? undefined)
  if (!(await advanceSchedule(tx, schedule, now, next))) return
  const whose = power === 'routine' ? schedule : { ...schedule, power: lowest(schedule.power, power) }
  await post(tx, whose, { dueAt: now, externalId: `${early.id}:${schedule.id}`, now, early })
}

interface Occurrence {
  dueAt: number
  externalId: string
  now: number
  early?: EventFact
}

async function post(tx: Tx, schedule: ScheduleRow, occurrence: Occurrence): Promise<void> {
  const { dueAt, externalId, now, early } = occurrence
  await postItem(tx, {
    thread: schedule.thread_id,
    source: 'schedule',
    externalId,
    payload: {
      kind: 'wake',
      schedule: schedule.id,
      reason: schedule.reason,
      dueAt,
      timezone: schedule.timezone,
      ...(early ? { early } : {}),
    },
    power: schedule.power,
    hasReadForeign: schedule.read_foreign === 1,
    conversation: schedule.conversation_id ?? undefined,
    at: now,
  })
}
