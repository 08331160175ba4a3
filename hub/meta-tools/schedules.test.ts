import { expect, test } from 'vitest'
import { openMetaTools } from '../../tests/support/meta-tools.ts'
import { changeSchedule, findSchedule } from '../store/schedules.ts'

const NOW = Date.parse('2026-11-21T22:00:00Z')

async function openTools() {
  const tools = await openMetaTools()
  const changed: string[] = []
  tools.signals.on('schedules', ({ agent }) => changed.push(agent))
  const call = async (name: string, args: Record<string, unknown> = {}, thread = 'thr_homelab') => {
    const effects: (() => void)[] = []
    const outcome = await tools.call(name, args, {
      thread,
      conversation: 'phone',
      now: NOW,
      timezone: 'Europe/Berlin',
      afterCommit: effect => effects.push(effect),
    })
    expect(changed).toEqual([])
    for (const effect of effects) effect()
    return { ...outcome, told: changed.splice(0) }
  }
  return { ...tools, call }
}

test('schedule_wake writes down when, why, for which events and for which conversation', async () => {
  await using tools = await openTools()
  const wanted = ['server_empty', { type: 'player_joined', match: { server: 'atm-*' } }]
  const outcome = await tools.call('schedule_wake', {
    delay: '15m',
    reason: 'stop it',
    wake_on_events: wanted,
  })
  expect(outcome).toMatchObject({
    isError: false,
    text: 'I look again at Sat 2026-11-21 23:15 (Europe/Berlin): stop it (sch_1)',
    structured: { id: 'sch_1', kind: 'once', nextRun: NOW + 15 * 60_000, timezone: 'Europe/Berlin' },
    told: ['homelab'],
  })
  expect(await findSchedule(tools.store.db, 'sch_1')).toEqual({
    id: 'sch_1',
    agent: 'homelab',
    thread_id: 'thr_homelab',
    kind: 'once',
    cron: null,
    timezone: 'Europe/Berlin',
    reason: 'stop it',
    next_run: NOW + 15 * 60_000,
    wake_on_events_json: JSON.stringify(wanted),
    conversation_id: 'phone',
    status: 'active',
    created_by: 'agent',
    created_at: NOW,
    last_run: null,
    read_foreign: 0,
    power: 'person',
    missed: 'latest',
  })
})

test.for([
  ['schedule_wake', { reason: 'x' }, /exactly one of delay/],
  ['schedule_wake', { delay: '1h' }, /wrong arguments: reason/],
  ['schedule_wake', { delay: '1h', reason: '' }, /wrong arguments: reason/],
  ['schedule_wake', { delay: 'on_event', reason: 'x' }, /needs wake_on_events/],
  [
    'schedule_wake',
    { delay: '1h', reason: 'x', wake_on_events: [{ match: {} }] },
    /wrong arguments: wake_on_events/,
  ],
  ['schedule_wake', { delay: '1h', cron: '0 8 * * *', reason: 'x' }, /wrong arguments/],
  ['schedule_cron', { cron: 'daily', reason: 'x' }, /no cron expression/],
  ['schedule_cron', { cron: '0 8 * * *', timezone: 'Mars', reason: 'x' }, /not an IANA zone/],
] as const)('%s with %j is a result that says why not, and makes nothing', async ([name, args, text]) => {
  await using tools = await openTools()
  expect(await tools.call(name, args)).toMatchObject({
    isError: true,
    text: expect.stringMatching(text),
    told: [],
  })
  expect(await tools.store.db.selectFrom('schedules').selectAll().execute()).toEqual([])
})

test('schedule_cron, list_schedules and cancel_schedule', async () => {
  await using tools = await openTools()
  expect((await tools.call('list_schedules')).text).toBe('No schedules.')
  const made = await tools.call('schedule_cron', { cron: '0 8 * * *', reason: 'report' })
  expect(made).toMatchObject({ structured: { id: 'sch_1', kind: 'cron' }, told: ['homelab'] })
  await tools.call('schedule_wake', { at: '2026-11-22T06:00', reason: 'early' })
  const listed = await tools.call('list_schedules')
  expect(listed.text?.split('\n')).toEqual([
    'sch_2: at Sun 2026-11-22 06:00 (Europe/Berlin): early',
    'sch_1: at Sun 2026-11-22 08:00 (Europe/Berlin) (cron 0 8 * * *): report',
  ])
  expect(await tools.call('cancel_schedule', { id: 'sch_1' })).toMatchObject({
    isError: false,
    text: 'Cancelled: report',
    told: ['homelab'],
  })
  expect((await tools.call('list_schedules')).text).toMatch(/^sch_2: .*$/)
})

test('only one’s own pending schedules can be cancelled', async () => {
  await using tools = await openTools()
  await tools.call('schedule_wake', { delay: '1h', reason: 'x' })
  const cancel = (id: string, thread?: string) => tools.call('cancel_schedule', { id }, thread)
  for (const outcome of [await cancel('sch_9'), await cancel('sch_1', 'thr_other')]) {
    expect(outcome).toMatchObject({ isError: true, told: [] })
  }
  await tools.store.write(tx => changeSchedule(tx, { id: 'sch_1', status: 'active' }, { status: 'done' }))
  expect(await cancel('sch_1')).toMatchObject({ isError: true })
  expect((await findSchedule(tools.store.db, 'sch_1'))?.status).toBe('done')
})
