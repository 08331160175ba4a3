import { z } from 'zod'
import { eventWanted } from '../../schemas/inbox.ts'
import { isAtLeast } from '../../schemas/power.ts'
import { describeNextRun, planSchedule, type ScheduleAsk } from '../core/schedule-plan.ts'
import { toLine } from '../core/text.ts'
import type { CallContext } from '../core/tool-box.ts'
import {
  activeSchedulesOf,
  cancelSchedule as cancelStored,
  createSchedule,
  findSchedule,
} from '../store/schedules.ts'
import type { ScheduleRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import { defineMetaTool, done, type MetaDeps, refused } from './meta-tool.ts'

const reason = z.string().min(1).max(2000).describe('what to do then, as a note to yourself')

export const scheduleWake = defineMetaTool({
  name: 'schedule_wake',
  forGuests: true,
  title: 'Wake me later',
  description:
    'Sleep now and be woken later: after a delay, at a time, or early when one of the named events happens. Ends this cycle, so put what you want to say beside the call. Use it to check on something again.',
  input: z.strictObject({
    delay: z
      .string()
      .optional()
      .describe('"90s", "30m", "2h", "1d", or "on_event" to wait for an event alone'),
    at: z
      .string()
      .optional()
      .describe('ISO 8601 time, in place of delay; one without a zone is in the one that the inbox names'),
    reason,
    wake_on_events: z.array(eventWanted).max(20).optional().describe('event types, or {type, match}'),
  }),
  ends: true,
  run: (tx, args, context, deps) =>
    create(deps, tx, context, args.reason, { ...args, wakeOnEvents: args.wake_on_events }),
})

export const scheduleCron = defineMetaTool({
  name: 'schedule_cron',
  title: 'Wake me regularly',
  description: 'Be woken again and again by a cron expression ("0 8 * * *" is every day at 8).',
  input: z.strictObject({
    cron: z.string().min(1).max(200),
    timezone: z.string().optional().describe('IANA zone; default the one that the inbox names'),
    reason,
  }),
  run: (tx, args, context, deps) => create(deps, tx, context, args.reason, args),
})

export const listSchedules = defineMetaTool({
  name: 'list_schedules',
  title: 'My schedules',
  description: 'Lists your pending wakes with their ids, times and reasons.',
  input: z.strictObject({}),
  readOnly: true,
  async run(tx, _args, context) {
    const rows = await activeSchedulesOf(tx, context.thread)
    const text = rows.map(describeSchedule).join('\n') || 'No schedules.'
    const isForeign = rows.some(({ power }) => !isAtLeast(power, 'routine'))
    return done(text, { schedules: rows.map(toView) }, isForeign)
  },
})

export const cancelSchedule = defineMetaTool({
  name: 'cancel_schedule',
  title: 'Cancel a schedule',
  description: 'Cancels one of your pending wakes by its id (list_schedules shows them).',
  input: z.strictObject({ id: z.string().min(1) }),
  async run(tx, { id }, context, deps) {
    const known = await findSchedule(tx, id)
    if (known && !isAtLeast(context.power, known.power))
      return refused(
        `The schedule ${id} was made with more power than this work has: a person can cancel it.`,
      )
    const row = await cancelStored(tx, id, { from: ['active'], thread: context.thread })
    if (!row) return refused(`There is no pending schedule ${id}; list_schedules shows them.`)
    context.afterCommit(() => deps.signals.emit('schedules', { agent: context.agent }))
    return done(`Cancelled: ${row.reason}`, { id, status: 'cancelled' })
  },
})

async function create(deps: MetaDeps, tx: Tx, context: CallContext, why: string, ask: ScheduleAsk) {
  const plan = planSchedule(ask, context.now, context.timezone)
  const id = deps.newId('sch')
  await createSchedule(tx, {
    id,
    agent: context.agent,
    thread_id: context.thread,
    kind: plan.kind,
    cron: plan.cron,
    timezone: plan.timezone,
    reason: why,
    next_run: plan.nextRun,
    wake_on_events_json: JSON.stringify(ask.wakeOnEvents ?? []),
    conversation_id: context.conversation,
    status: 'active',
    created_by: 'agent',
    created_at: context.now,
    last_run: null,
    power: context.power,
    read_foreign: context.hasReadForeign ? 1 : 0,
  })
  context.afterCommit(() => deps.signals.emit('schedules', { agent: context.agent }))
  const { kind, nextRun, timezone } = plan
  const text = `I look again ${describeNextRun(nextRun, timezone)}: ${why} (${id})`
  return done(text, { id, kind, nextRun, timezone })
}

function describeSchedule(row: ScheduleRow): string {
  const when = describeNextRun(row.next_run, row.timezone)
  const repeats = row.cron === null ? '' : ` (cron ${row.cron})`
  return toLine(`${row.id}: ${when}${repeats}: ${row.reason}`)
}

function toView(row: ScheduleRow) {
  return { id: row.id, kind: row.kind, cron: row.cron, nextRun: row.next_run, reason: row.reason }
}
