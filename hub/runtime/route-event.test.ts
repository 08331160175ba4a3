import { expect, test } from 'vitest'
import { openWorld, type World, type WorldAgent } from '../../tests/support/runtime-world.ts'
import { call, hold, say } from '../../tests/support/scripted-model.ts'
import type { EventRow } from '../store/tables.ts'

const MINUTE = 60_000
const HOT = { host: 'nas', sensor: 'cpu', temp: 91, threshold: 80 }

async function openQuiet(...agents: Partial<WorldAgent>[]) {
  const world = await openWorld({ agents })
  await world.start()
  world.semaphore.resize(0)
  let count = 0
  const publish = async (type: string, over: { payload?: Record<string, unknown>; key?: string } = {}) =>
    world.router.postEvent({
      source: 'mcp:owner',
      externalId: `e${++count}`,
      type,
      payload: HOT,
      at: world.clock.now(),
      ...over,
    })
  return Object.assign(world, { publish })
}

const events = ({ store }: World) => store.db.selectFrom('events').selectAll().orderBy('id').execute()
const inbox = ({ store }: World) => store.db.selectFrom('inbox').selectAll().execute()
const statuses = async (world: World) => (await events(world)).map(({ status }) => status)
const byId = async (world: World, id = ''): Promise<EventRow> =>
  (await events(world)).find(row => row.id === id) ?? expect.unreachable(id)

test.for(['temp_high', 'anything_high', 'disk_full_warning', 'container_unhealthy'])(
  'a level event that stays true (%s) is held for ten minutes and counted',
  async type => {
    await using world = await openQuiet({ events: ['*'] })
    const first = await world.publish(type)
    expect(first).toMatchObject({ status: 'pending', note: 'the agent homelab lists it' })
    world.clock.advance(9 * MINUTE)
    const second = await world.publish(type)
    expect(second).toMatchObject({ status: 'held', routedTo: [] })
    expect(second?.note).toBe(
      `held behind ${first?.id}, which has the same type and key, until 2026-11-21T22:10:00Z`,
    )
    await world.publish(type)
    expect(await byId(world, first?.id)).toMatchObject({ repeats: 2, status: 'pending' })
    expect(await byId(world, second?.id)).toMatchObject({ repeats: 0, status: 'held', note: second?.note })
    expect(await inbox(world)).toHaveLength(1)
    // The cooldown ends ten minutes after the event that was told, not after those that were held.
    world.clock.advance(MINUTE)
    expect(await inbox(world)).toHaveLength(1)
    expect((await world.publish(type))?.status).toBe('pending')
    expect((await world.publish(type))?.status).toBe('held')
    expect(await inbox(world)).toHaveLength(2)
  },
)

test('the key makes two events the same; without one their payloads do', async () => {
  await using world = await openQuiet({ events: ['*'] })
  const status = async (...args: Parameters<typeof world.publish>) => (await world.publish(...args))?.status
  expect(await status('temp_high')).toBe('pending')
  expect(await status('temp_high', { payload: { ...HOT, host: 'pc' } })).toBe('pending')
  expect(await status('temp_high', { payload: Object.fromEntries(Object.entries(HOT).reverse()) })).toBe(
    'held',
  )
  expect(await status('disk_high')).toBe('pending')
  expect(await status('cpu_high', { key: 'nas' })).toBe('pending')
  expect(await status('cpu_high', { key: 'nas', payload: { percent: 99 } })).toBe('held')
  expect(await status('cpu_high', { key: 'pc' })).toBe('pending')
})

test('a level event that a thread waits for is not held', async () => {
  await using world = await openWorld({ agents: [{ events: ['temp_high'] }] })
  const wake = { delay: '1h', reason: 'is it cool?', wake_on_events: ['temp_high'] }
  world.model.script(call([['schedule_wake', wake]]), say('still hot'))
  await world.start()
  const publish = (externalId: string) =>
    world.router.postEvent({ source: 's', externalId, type: 'temp_high', payload: HOT, at: 0 })
  await publish('1')
  await world.idle()
  const [waiting] = await world.store.db.selectFrom('schedules').selectAll().execute()
  expect(await publish('2')).toMatchObject({
    status: 'pending',
    routedTo: ['thr_homelab'],
    note: `thr_homelab waited for it (${waiting?.id})`,
  })
  await world.idle()
  expect(world.model.requests.all.at(-1)?.messages.at(-1)?.text).toContain(
    'Woken early by the event temp_high',
  )
  expect((await publish('3'))?.status).toBe('held')
})

test('one that nobody took holds a repeat only while still nobody lists it', async () => {
  await using world = await openQuiet({})
  expect((await world.publish('temp_high'))?.status).toBe('ignored')
  expect((await world.publish('temp_high'))?.status).toBe('held')
  world.agents.set('homelab', { ...world.agents.get('homelab'), events: ['temp_high'] } as WorldAgent)
  expect((await world.publish('temp_high'))?.status).toBe('pending')
  expect((await world.publish('temp_high'))?.status).toBe('held')
})

test('a clock that was put back does not hold a level for longer', async () => {
  await using world = await openQuiet({ events: ['*'] })
  await world.publish('temp_high')
  world.clock.jump(-24 * 60 * MINUTE)
  expect((await world.publish('temp_high'))?.status).toBe('pending')
})

test('a repeated delivery of a held event counts once', async () => {
  await using world = await openQuiet({ events: ['*'] })
  const first = await world.publish('temp_high')
  const again = { source: 'metrics', externalId: 'x', type: 'temp_high', payload: HOT, at: 0 }
  expect((await world.router.postEvent(again))?.status).toBe('held')
  expect(await world.router.postEvent(again)).toBeUndefined()
  expect((await byId(world, first?.id)).repeats).toBe(1)
})

test('the agent is told how often an event was repeated before it took it', async () => {
  await using world = await openQuiet({ events: ['*'] })
  for (let times = 0; times < 4; times++) await world.publish('temp_high')
  await world.publish('server_empty')
  world.model.script(say(''))
  world.semaphore.resize(1)
  await world.idle()
  const text = world.model.requests.all[0]?.messages.at(-1)?.text ?? ''
  expect(text).toContain('"threshold":80}, 4 times')
  expect(text.match(/times/g)).toHaveLength(1)
})

test('an event is pending, in the hands of a cycle, and handled when the last of its cycles has ended', async () => {
  await using world = await openWorld({
    agents: ['a', 'b'].map(name => ({ name, events: ['server_empty'] })),
  })
  const [one, other] = [hold(say('')), hold(say(''))]
  world.model.script(one.turn, other.turn)
  await world.start()
  world.semaphore.resize(0)
  await world.router.postEvent({ source: 's', externalId: '1', type: 'server_empty', payload: {}, at: 0 })
  expect(await statuses(world)).toEqual(['pending'])
  world.semaphore.resize(2)
  await Promise.all([one.begun, other.begun])
  expect(await statuses(world)).toEqual(['processing'])
  one.release()
  await world.seen.ended.find('one has ended', () => true)
  expect(await statuses(world)).toEqual(['processing'])
  other.release()
  await world.idle()
  expect(await statuses(world)).toEqual(['handled'])
})

test('promise 4: a cycle that a crash cut goes on, and its events are handled at its end', async () => {
  await using world = await openWorld({ agents: [{ events: ['server_empty'] }] })
  world.model.script(say('too late'), call([['schedule_wake', { delay: '1h', reason: 'again' }]]))
  await world.start({ write: 3, when: 'before' })
  await world.router.postEvent({ source: 's', externalId: '1', type: 'server_empty', payload: {}, at: 0 })
  await world.died
  expect(await statuses(world)).toEqual(['processing'])
  await world.start()
  await world.idle()
  expect(await statuses(world)).toEqual(['handled'])
})
