import { z } from 'zod'
import { type Schedule, schedule } from '../../../schemas/hub-lists.ts'
import { eventWanted } from '../../../schemas/inbox.ts'
import { name } from '../../../schemas/names.ts'
import { toIso } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { describeNextRun, planSchedule } from '../../core/schedule-plan.ts'
import { toLine } from '../../core/text.ts'
import { cancelSchedule, createSchedule, firedSchedules, listSchedules } from '../../store/schedules.ts'
import type { NewSchedule, ScheduleRow } from '../../store/tables.ts'
import { ensureMainThread } from '../../store/threads.ts'
import { meantAgent } from './deps.ts'
import { defineHubTool, toView } from './hub-tool.ts'

const MOST_FIRED = 50

export const listAllSchedules = defineHubTool({
  name: 'hub_list_schedules',
  title: 'List schedules',
  description: 'The pending wake-ups of one agent or of all, the next first; or those that fired.',
  input: z.strictObject({
    agent: name.optional(),
    fired: z
      .boolean()
      .optional()
      .describe('in place of the pending ones the last 50 that fired, the newest first'),
  }),
  output: z.object({ schedules: z.array(schedule) }),
  effect: 'reads',
  right: 'records',
  async run({ agent, fired }, { deps: { store } }) {
    const rows = fired ? firedSchedules(store.db, MOST_FIRED, agent) : listSchedules(store.db, agent)
    return { schedules: (await rows).map(toScheduleView) }
  },
  toText: ({ schedules }) => schedules.map(describe).join('\n') || 'No schedules.',
})

export const createOne = defineHubTool({
  name: 'hub_create_schedule',
  title: 'Create a schedule',
  description: 'Wakes an agent once (delay or at) or regularly (cron), with the reason as its note.',
  input: z.strictObject({
    agent: name.optional().describe('default: homelab, else the first'),
    delay: z.string().optional().describe('"90s", "30m", "2h", "1d", or "on_event"'),
    at: z.string().optional().describe('ISO 8601'),
    cron: z.string().optional(),
    timezone: z.string().optional().describe("IANA zone; default the hub's"),
    reason: z.string().trim().min(1).max(2000),
    wakeOnEvents: z.array(eventWanted).max(20).optional(),
  }),
  output: schedule,
  effect: 'adds',
  right: 'records',
  async run(args, { principal, deps }) {
    const agent = await meantAgent({ deps, principal }, args.agent)
    if (agent.status === 'retired')
      throw new HubError('retired', `The agent ${agent.name} is retired: its file is gone`)
    const now = deps.clock.now()
    const plan = planSchedule(args, now, deps.timezone)
    const row: NewSchedule & ScheduleRow = {
      id: deps.newId('sch'),
      agent: agent.name,
      thread_id: '',
      kind: plan.kind,
      cron: plan.cron,
      timezone: plan.timezone,
      reason: args.reason,
      next_run: plan.nextRun,
      wake_on_events_json: JSON.stringify(args.wakeOnEvents ?? []),
      conversation_id: null,
      status: 'active',
      created_by: principal.name,
      created_at: now,
      last_run: null,
      missed: 'latest' as const,
      power: 'person' as const,
      read_foreign: 0,
    }
    const stored = await deps.store.write(async tx => {
      const whole = { ...row, thread_id: await ensureMainThread(tx, agent.name, now) }
      await createSchedule(tx, whole)
      return whole
    })
    deps.signals.emit('schedules', { agent: agent.name })
    return toScheduleView(stored)
  },
  toText: describe,
})

export const cancelOne = defineHubTool({
  name: 'hub_cancel_schedule',
  title: 'Cancel a schedule',
  description: 'Cancels a pending wake-up by its id.',
  input: z.strictObject({ id: z.string().min(1) }),
  output: schedule,
  effect: 'removes',
  right: 'records',
  async run({ id }, { deps }) {
    const cancelled = await deps.store.write(tx => cancelSchedule(tx, id, { from: ['active', 'held'] }))
    if (!cancelled)
      throw new HubError('not_found', `There is no pending schedule ${id}; hub_list_schedules shows them`)
    deps.signals.emit('schedules', { agent: cancelled.agent })
    return toScheduleView(cancelled)
  },
  toText: result => toLine(`Cancelled ${result.id}: ${result.reason}`),
})

export function toScheduleView(row: ScheduleRow): Schedule {
  return schedule.parse({ nextRun: null, ...toView(row) })
}

function describe(one: Schedule): string {
  const repeats = one.cron ? ` (cron ${one.cron})` : ''
  const types = one.wakeOnEvents.map(wanted => (typeof wanted === 'string' ? wanted : wanted.type))
  const early = types.length > 0 ? `, or early on ${types.join(', ')}` : ''
  const held = one.status === 'held' ? ', held while the agent has no file' : ''
  const isOver = one.status === 'done' || one.status === 'cancelled'
  const when = isOver ? one.status : describeNextRun(one.nextRun, one.timezone)
  const fired = one.lastRun === undefined ? '' : `, fired at ${toIso(one.lastRun)}`
  return toLine(`${one.id} ${one.agent}: ${when}${fired}${repeats}${early}${held}: ${one.reason}`)
}
