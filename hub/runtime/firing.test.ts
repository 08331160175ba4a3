import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { InboxPayload } from '../../schemas/inbox.ts'
import type { Death } from '../../tests/support/mortal.ts'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { nextOccurrence } from '../core/schedule-plan.ts'
import { cancelSchedule, createSchedule, findSchedule } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/tables.ts'
import { ensureMainThread } from '../store/threads.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Opens a world in which no cycle runs: what is posted stays in the inbox. */
async function openQuiet(...args: Parameters<typeof openWorld>) {
  const world = await openWorld(...args)
  await live(world)
  return world
}

async function live(world: World, death?: Death) {
  await world.start(death)
  world.semaphore.resize(0)
}

async function add({ store, clock }: World, ...rows: Partial<ScheduleRow>[]): Promise<void> {
  await store.write(async tx => {
    await ensureMainThread(tx, 'homelab', 0)
    for (const row of rows)
      await createSchedule(tx, {
        id: 'sch_1',
        agent: 'homelab',
        thread_id: 'thr_homelab',
        kind: row.cron ? 'cron' : 'once',
        cron: null,
        timezone: 'Europe/Berlin',
        reason: 'look',
        next_run: clock.now() + HOUR,
        wake_on_events_json: '[]',
        conversation_id: null,
        status: 'active',
        created_by: 'agent',
        created_at: clock.now(),
        last_run: null,
        missed: 'latest',
        ...row,
      })
  })
}

type Wake = Extract<InboxPayload, { kind: 'wake' }>

async function wakes({ store }: World): Promise<Wake[]> {
  const rows = await store.db.selectFrom('inbox').selectAll().orderBy('seq').execute()
  return rows.map(row => JSON.parse(row.payload_json) as Wake)
}

const duesOf = async (world: World) => (await wakes(world)).map(({ dueAt }) => dueAt)

test('promise 7: what was slept through fires as its policy says, each occurrence an item of its own', async () => {
  await using world = await openQuiet()
  const first = Date.parse('2026-11-22T07:00:00Z')
  const daily = { cron: '0 8 * * *', next_run: first }
  await add(
    world,
    { ...daily, id: 'sch_all', missed: 'all' },
    { ...daily, id: 'sch_latest' },
    { ...daily, id: 'sch_skip', missed: 'skip' },
  )
  world.clock.jump(3 * DAY)
  await world.router.fireDue()
  const fired = (await wakes(world)).map(({ schedule, dueAt }) => [schedule, (dueAt - first) / DAY])
  expect(fired.sort()).toEqual([
    ['sch_all', 0],
    ['sch_all', 1],
    ['sch_all', 2],
    ['sch_latest', 2],
  ])
  const rows = await world.store.db.selectFrom('schedules').select(['next_run', 'last_run']).execute()
  const now = world.clock.now()
  expect(rows.map(row => row.next_run)).toEqual([first + 3 * DAY, first + 3 * DAY, first + 3 * DAY])
  expect(rows.map(row => row.last_run)).toEqual([now, now, null])
  expect(await world.router.fireDue()).toBe(false)
  expect(await wakes(world)).toHaveLength(4)
})

test.for([
  ['before', 1],
  ['after', 1],
] as const)('promise 7: a hub that dies %s the commit fires the occurrence once', async ([when, write]) => {
  await using world = await openQuiet()
  await add(world, { cron: '0 * * * *' })
  await live(world, { write, when })
  world.clock.advance(HOUR)
  void world.router.fireDue()
  await world.died
  await live(world)
  await world.router.fireDue()
  expect(await duesOf(world)).toHaveLength(1)
})

test('promise 7: a clock that is put back fires nothing again, and goes on where it was', async () => {
  await using world = await openQuiet()
  const first = world.clock.now() + HOUR
  await add(world, { cron: '0 * * * *', next_run: first })
  world.clock.jump(2 * HOUR)
  await world.router.fireDue()
  world.clock.jump(-2 * HOUR)
  for (let hour = 0; hour < 4; hour++) {
    await world.router.fireDue()
    world.clock.jump(HOUR)
  }
  await world.router.fireDue()
  expect(await duesOf(world)).toEqual([first + HOUR, first + 2 * HOUR, first + 3 * HOUR])
})

test('promise 7: all, over any jumps of the time and any deaths, loses nothing and repeats nothing', async () => {
  const crons = ['*/20 * * * *', '0 * * * *', '30 2 * * *']
  const turn = fc.record({
    jump: fc.oneof(fc.integer({ min: -3 * HOUR, max: 5 * HOUR }), fc.constant(0)),
    death: fc.constantFrom(undefined, 'before' as const, 'after' as const),
  })
  const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe']
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...crons),
      fc.constantFrom(...zones),
      fc.array(turn, { minLength: 1, maxLength: 8 }),
      async (cron, timezone, turns) => {
        await using world = await openQuiet()
        const begin = world.clock.now()
        const first = nextOccurrence(cron, timezone, begin)
        await add(world, { cron, timezone, missed: 'all', next_run: first ?? null })
        let latest = begin
        for (const { jump, death } of turns) {
          world.clock.jump(jump)
          latest = Math.max(latest, world.clock.now())
          if (death) {
            await live(world, { write: 1, when: death })
            void world.router.fireDue()
            await world.died
            await live(world)
          }
          await world.router.fireDue()
        }
        const expected: number[] = []
        let next = first
        while (next !== undefined && next <= latest) {
          expected.push(next)
          next = nextOccurrence(cron, timezone, next)
        }
        // Each of these schedules has at most 15 occurrences in five hours.
        expect(await duesOf(world)).toEqual(expected)
      },
    ),
    { numRuns: 20 },
  )
})

test('of many at one instant sixteen fire in a turn, in a mixed order that is the same every time', async () => {
  await using world = await openQuiet()
  const due = world.clock.now() + HOUR
  const ids = Array.from({ length: 40 }, (_, index) => `sch_${index}-${(index * 7919) % 1000}`)
  await add(world, ...ids.map(id => ({ id, next_run: due })))
  world.clock.advance(HOUR)
  const turns: number[] = []
  for (let more = true; more; ) {
    more = await world.router.fireDue()
    turns.push((await wakes(world)).length)
  }
  expect(turns).toEqual([16, 32, 40])
  const order = (await wakes(world)).map(({ schedule }) => schedule)
  expect(new Set(order).size).toBe(40)
  expect(order).not.toEqual(ids)
})

test('an event wakes a cron early, which keeps its next time and fires then', async () => {
  await using world = await openQuiet()
  const due = world.clock.now() + HOUR
  await add(world, { cron: '0 * * * *', next_run: due, wake_on_events_json: '["server_empty"]' })
  const event = { source: 'games', externalId: '1', type: 'server_empty', payload: {}, at: 0 }
  await world.router.postEvent(event)
  expect(world.seen.schedules.all).toEqual([{ agent: 'homelab' }])
  expect(await findSchedule(world.store.db, 'sch_1')).toMatchObject({ status: 'active', next_run: due })
  world.clock.advance(HOUR)
  await world.router.fireDue()
  expect((await wakes(world)).map(({ early, dueAt }) => [early?.type, dueAt])).toEqual([
    ['server_empty', due - HOUR],
    [undefined, due],
  ])
})

test('a wake-up that is cancelled, due and waited for in one instant ends in one way only', async () => {
  const action = fc.constantFrom('fire', 'cancel', 'event')
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(['fire', 'cancel', 'event', 'fire']),
      action,
      async (order, last) => {
        await using world = await openQuiet()
        await add(world, { wake_on_events_json: '["server_empty"]' })
        world.clock.advance(HOUR)
        const event = { source: 'games', externalId: '1', type: 'server_empty', payload: {}, at: 0 }
        const cancel = () =>
          world.store.write(async tx => {
            return (await cancelSchedule(tx, 'sch_1', { from: ['active'] })) !== undefined
          })
        const doings = {
          fire: () => world.router.fireDue(),
          cancel,
          event: () => world.router.postEvent(event),
        }
        const all = [...order, last] as (keyof typeof doings)[]
        const results = await Promise.all(all.map(async doing => ({ doing, result: await doings[doing]() })))
        const cancelled = results.filter(({ doing, result }) => doing === 'cancel' && result === true).length
        expect((await wakes(world)).length + cancelled).toBe(1)
        const status = (await findSchedule(world.store.db, 'sch_1'))?.status
        expect(status).toBe(cancelled === 1 ? 'cancelled' : 'done')
      },
    ),
    { numRuns: 15 },
  )
})
