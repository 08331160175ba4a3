import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { InboxPayload } from '../../schemas/inbox.ts'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, say } from '../../tests/support/scripted-model.ts'
import { newestOccurrences } from '../core/schedule-plan.ts'
import { createSchedule } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/tables.ts'
import { ensureMainThread } from '../store/threads.ts'

const HOUR = 3_600_000

async function openQuiet(...args: Parameters<typeof openWorld>) {
  const world = await openWorld(...args)
  await world.start()
  world.semaphore.resize(0)
  return world
}

async function add({ store, clock }: World, row: Partial<ScheduleRow> = {}): Promise<string> {
  const schedule: ScheduleRow = {
    id: 'sch_1',
    agent: 'homelab',
    thread_id: 'thr_homelab',
    kind: 'once',
    cron: null,
    timezone: 'Europe/Berlin',
    reason: 'look',
    next_run: clock.now() + HOUR,
    wake_on_events_json: '[]',
    conversation_id: 'homelab',
    status: 'active',
    created_by: 'agent',
    created_at: clock.now(),
    last_run: null,
    missed: 'latest',
    power: 'routine',
    read_foreign: 0,
    ...row,
  }
  await store.write(async tx => {
    await ensureMainThread(tx, 'homelab', 0)
    await createSchedule(tx, schedule)
  })
  return schedule.id
}

type Wake = Extract<InboxPayload, { kind: 'wake' }>

const wakes = async ({ store }: World) => {
  const rows = await store.db.selectFrom('inbox').selectAll().orderBy('seq').execute()
  return rows.map(row => JSON.parse(row.payload_json) as Wake).filter(({ kind }) => kind === 'wake')
}
const schedule = ({ store }: World) => store.db.selectFrom('schedules').selectAll().executeTakeFirstOrThrow()
const event = (type: string, payload: Record<string, unknown> = {}) => ({
  source: 'games',
  externalId: `${type}${JSON.stringify(payload)}`,
  type,
  payload,
  at: 0,
  power: 'routine' as const,
})

test('promise 7: a one-shot fires at its time, once, and stays for inspection', async () => {
  await using world = await openQuiet()
  await add(world)
  const due = world.clock.now() + HOUR
  world.clock.advance(HOUR - 1)
  await world.router.fireDue()
  expect(await wakes(world)).toEqual([])
  world.clock.advance(1)
  await world.router.fireDue()
  await world.router.fireDue()
  expect(await wakes(world)).toEqual([
    { kind: 'wake', schedule: 'sch_1', reason: 'look', dueAt: due, timezone: 'Europe/Berlin' },
  ])
  expect(await schedule(world)).toMatchObject({ status: 'done', next_run: null, last_run: due })
})

test('promise 7: what was missed fires once, as its latest occurrence', async () => {
  await using world = await openQuiet()
  const first = Date.parse('2026-11-22T07:00:00Z')
  await add(world, { kind: 'cron', cron: '0 8 * * *', next_run: first })
  world.clock.jump(10 * 24 * HOUR)
  await world.router.fireDue()
  expect((await wakes(world)).map(({ dueAt }) => new Date(dueAt).toISOString())).toEqual([
    '2026-12-01T07:00:00.000Z',
  ])
  expect((await schedule(world)).next_run).toBe(Date.parse('2026-12-02T07:00:00Z'))
})

test('a cron that never comes again is over, and keeps no other schedule from firing', async () => {
  await using world = await openQuiet()
  const due = Date.parse('2026-12-01T08:00:00Z')
  await add(world, { id: 'sch_0', kind: 'cron', cron: '0 0 8 1 12 * 2026', timezone: 'UTC', next_run: due })
  await add(world, { id: 'sch_1', kind: 'cron', cron: '2026-12-01T08:00:00', timezone: 'UTC', next_run: due })
  await add(world, { id: 'sch_2', next_run: due })
  world.clock.jump(due - world.clock.now())
  await world.router.fireDue()
  expect((await wakes(world)).map(each => each.schedule).sort()).toEqual(['sch_0', 'sch_1', 'sch_2'])
  const rows = await world.store.db.selectFrom('schedules').select('status').execute()
  expect(rows.map(({ status }) => status)).toEqual(['done', 'done', 'done'])
})

test('promise 7: exactly once per occurrence over any jumps of the time', async () => {
  const crons = ['*/7 * * * *', '0 * * * *', '30 2 * * *', '0 8 * * 1', '0 0 1 * *']
  const zones = ['Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'UTC']
  const jump = fc.oneof(
    fc.integer({ min: -3 * HOUR, max: 3 * HOUR }),
    fc.integer({ min: -40 * 24 * HOUR, max: 200 * 24 * HOUR }),
    fc.constant(0),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...crons),
      fc.constantFrom(...zones),
      fc.array(jump, { minLength: 1, maxLength: 12 }),
      async (cron, timezone, jumps) => {
        await using world = await openQuiet()
        const first = world.clock.now() + 60_000
        await add(world, { kind: 'cron', cron, timezone, next_run: first })
        let newest = Number.NEGATIVE_INFINITY
        for (const ms of jumps) {
          world.clock.jump(ms)
          const now = world.clock.now()
          const { next_run: due } = await schedule(world)
          const before = (await wakes(world)).length
          await world.router.fireDue()
          await world.router.fireDue()
          const fired = (await wakes(world)).slice(before)
          expect(fired).toHaveLength(due !== null && due <= now ? 1 : 0)
          for (const { dueAt } of fired) {
            expect(dueAt).toBeGreaterThan(newest)
            expect(dueAt).toBeLessThanOrEqual(now)
            // The occurrence is the latest that was missed, not an earlier one.
            expect(dueAt).toBe(Math.max(due ?? 0, newestOccurrences(cron, timezone, now, 1)[0] ?? 0))
            newest = dueAt
          }
          expect((await schedule(world)).next_run).toBeGreaterThan(now < (due ?? 0) ? 0 : now)
        }
      },
    ),
    { numRuns: 25 },
  )
})

test('wake_on_events wakes early where the match fits, and cancels the timer', async () => {
  await using world = await openQuiet()
  const wanted = [{ type: 'player_*', match: { server: 'atm-*' } }]
  await add(world, { wake_on_events_json: JSON.stringify(wanted) })
  expect((await world.router.postEvent(event('player_joined', { server: 'sky' })))?.status).toBe('ignored')
  const routed = await world.router.postEvent(event('player_joined', { server: 'atm-10' }))
  expect(routed).toMatchObject({ status: 'pending', routedTo: ['thr_homelab'] })
  expect(await wakes(world)).toMatchObject([
    {
      reason: 'look',
      dueAt: world.clock.now(),
      early: { type: 'player_joined', payload: { server: 'atm-10' } },
    },
  ])
  world.clock.advance(2 * HOUR)
  await world.router.fireDue()
  expect((await world.router.postEvent(event('player_left', { server: 'atm-10' })))?.status).toBe('ignored')
  expect(await wakes(world)).toHaveLength(1)
})

test('one without a time fires by its event alone', async () => {
  await using world = await openQuiet()
  await add(world, { next_run: null, wake_on_events_json: '["server_empty"]' })
  world.clock.jump(1_000 * 24 * HOUR)
  await world.router.fireDue()
  expect(await wakes(world)).toEqual([])
  await world.router.postEvent(event('server_empty'))
  expect(await wakes(world)).toMatchObject([{ early: { type: 'server_empty' } }])
})

test("a thread that waited for an event stands in for its own agent's listing", async () => {
  const events = ['server_empty']
  await using world = await openQuiet({ agents: [{ events }, { name: 'other', events }] })
  await add(world, { wake_on_events_json: '["server_empty"]' })
  const routed = await world.router.postEvent(event('server_empty'))
  expect(routed?.routedTo).toEqual(['thr_homelab', 'thr_other'])
  const rows = await world.store.db
    .selectFrom('inbox')
    .select(['thread_id', 'source'])
    .orderBy('seq')
    .execute()
  expect(rows).toEqual([
    { thread_id: 'thr_homelab', source: 'schedule' },
    { thread_id: 'thr_other', source: 'event' },
  ])
  await world.router.postEvent(event('server_empty', { again: true }))
  expect(await world.store.db.selectFrom('inbox').selectAll().execute()).toHaveLength(4)
})

test('schedule_wake brings its reason back, in the conversation of the cycle that made it', async () => {
  await using world = await openWorld({ agents: [{ conversations: ['homelab', 'phone'] }] })
  const wake = call([['schedule_wake', { delay: '1h', reason: 'resume the downloads' }]], 'paused')
  world.model.script(wake, say('resumed'))
  await world.start()
  await world.post('pause them', 'phone')
  await world.idle()
  world.clock.advance(HOUR)
  await world.router.fireDue()
  await world.idle()
  const text = world.model.requests.all[1]?.messages.at(-1)?.text
  expect(text).toMatch(/^\[INBOX - 1 event\][\s\S]*Wake-up that was scheduled[\s\S]*resume the downloads$/)
  expect(world.seen.messages.all.at(-1)).toMatchObject({ conversation: 'phone', text: 'resumed' })
})
