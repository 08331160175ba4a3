import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openWorld, type World, type WorldAgent } from '../../tests/support/runtime-world.ts'
import { call, say } from '../../tests/support/scripted-model.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Opens a world in which time passes: what is due on the way happens at its time. */
async function openStorm(...agents: Partial<WorldAgent>[]) {
  const world = await openWorld({ agents: agents.length > 0 ? agents : [{ events: ['*'] }] })
  await world.start()
  world.model.script(...Array.from({ length: 500 }, () => say('seen')))
  const began = world.clock.now()
  let count = 0
  const pass = async (ms: number) => {
    const end = world.clock.now() + ms
    for (let due = await world.nextDue(); due !== undefined && due <= end; due = await world.nextDue()) {
      world.clock.advance(Math.max(0, due - world.clock.now()))
      await world.fireDue()
      await world.idle()
    }
    world.clock.advance(end - world.clock.now())
  }
  const raise = async (type: string, payload: Record<string, unknown> = {}, key = 'it') => {
    const event = { source: 's', externalId: `e${++count}`, type, key, payload, at: world.clock.now() }
    const routed = await world.router.postEvent(event)
    await world.idle()
    return routed
  }
  return Object.assign(world, { pass, raise, began, wakes: () => wakesOf(world, began) })
}

/** Returns for each wake its milliseconds since the begin, and its events with how many each stands for. */
function wakesOf({ model }: World, began: number) {
  return model.requests.all.map(request => {
    const text = request.messages.at(-1)?.text ?? ''
    const told = [...text.matchAll(/:\n> (\S+) \{.*\}(?:, (\d+) times)?$/gm)]
    return {
      at: request.now - began,
      events: told.map(([, type = '', times = '1']) => ({ type, times: Number(times) })),
    }
  })
}

test('a restart loop of 45 s makes three wakes, not one for each crash', async () => {
  await using world = await openStorm()
  for (let crash = 1; crash <= 9; crash++) {
    const routed = await world.raise('server_crash', { server: 'atm-10', count: crash })
    expect(routed?.status).toBe(crash === 1 ? 'pending' : 'held')
    await world.pass(5 * SECOND)
  }
  expect(world.wakes()).toHaveLength(1)
  await world.pass(10 * MINUTE)
  expect(world.wakes()).toEqual([
    { at: 0, events: [{ type: 'server_crash', times: 1 }] },
    { at: MINUTE, events: Array(2).fill({ type: 'server_crash', times: 1 }) },
    { at: 10 * MINUTE, events: [{ type: 'server_crash', times: 6 }] },
  ])
  expect(world.model.requests.all.at(-1)?.messages.at(-1)?.text).toContain(
    'server_crash {"server":"atm-10","count":9}, 6 times',
  )
})

test('a storm that goes on tells of itself once in ten minutes, and ends with it', async () => {
  await using world = await openStorm()
  for (let each = 0; each < 25 * 3; each++) {
    await world.raise('server_crash')
    await world.pass(20 * SECOND)
  }
  await world.pass(20 * MINUTE)
  expect(world.wakes().map(({ at }) => at)).toEqual([0, 1, 10, 20, 30].map(minutes => minutes * MINUTE))
  expect((await world.raise('server_crash'))?.status).toBe('pending')
})

test('what tells of a storm keeps a minute from a batch that was gathered before it', async () => {
  await using world = await openStorm()
  for (const pause of [8 * MINUTE + 59 * SECOND, 11 * SECOND, 10 * SECOND, 10 * MINUTE]) {
    await world.raise('server_crash')
    await world.pass(pause)
  }
  const seconds = world.wakes().map(({ at }) => at / SECOND)
  expect(seconds).toEqual([0, 539, 599, 659])
})

test('three short visits of a player within a minute are gathered', async () => {
  await using world = await openStorm({ events: ['player_joined', 'player_left', 'server_empty'] })
  for (let visit = 0; visit < 3; visit++) {
    await world.raise('player_joined', { server: 'arena', playerCount: 1 })
    await world.pass(8 * SECOND)
    await Promise.all([
      world.raise('player_left', { server: 'arena', playerCount: 0 }),
      world.raise('server_empty', { server: 'arena', previousCount: 1 }),
    ])
    await world.pass(8 * SECOND)
  }
  await world.pass(20 * MINUTE)
  // The first that came and the first that left go out at once, then the rest of each minute.
  expect(world.wakes()).toHaveLength(4)
})

test('in a storm a thread that waits for the event still gets it at once', async () => {
  await using world = await openWorld({ agents: [{ events: ['server_crash'] }] })
  await world.start()
  world.semaphore.resize(0)
  const raise = (externalId: string) =>
    world.router.postEvent({ source: 's', externalId, type: 'server_crash', key: 'k', payload: {}, at: 0 })
  for (const id of ['1', '2', '3', '4', '5']) await raise(id)
  expect((await raise('6'))?.status).toBe('held')
  const wake = { delay: 'on_event', reason: 'does it crash again?', wake_on_events: ['server_crash'] }
  world.model.script(call([['schedule_wake', wake]]))
  world.semaphore.resize(1)
  await world.idle()
  world.semaphore.resize(0)
  expect(await raise('7')).toMatchObject({ status: 'pending', routedTo: ['thr_homelab'] })
})

test('a held event survives a crash of the hub and goes out at its time', async () => {
  await using world = await openStorm()
  await world.raise('server_crash')
  await world.raise('server_crash')
  world.kill()
  await world.start()
  await world.pass(MINUTE - 1)
  expect(world.wakes()).toHaveLength(1)
  await world.pass(1)
  expect(world.wakes()).toHaveLength(2)
})

test('an event that nobody lists is ignored at once, however often it comes', async () => {
  await using world = await openStorm({ events: ['other'] })
  for (let each = 0; each < 5; each++) expect((await world.raise('server_crash'))?.status).toBe('ignored')
  expect(await world.nextDue()).toBeUndefined()
})

const GIB = 1024 ** 3
const DISK = { host: 'nas', mount: '/srv', percent: 97, threshold: 85 }

test.for([
  ['of one disk', { ...DISK, free: 60 * GIB }, { client: 'sab', free: 61 * GIB }, 'held'],
  ['of a disk whose free space is not known', DISK, { client: 'sab', free: 61 * GIB }, 'held'],
  ['of two disks', { ...DISK, free: 600 * GIB }, { client: 'sab', free: 5 * GIB }, 'pending'],
] as const)('one cause is one event: two servers tell %s', async ([, one, other, status]) => {
  await using world = await openStorm()
  await world.raise('disk_high', one, 'disk_high:nas:/srv')
  expect((await world.raise('disk_full_warning', other, 'disk_full_warning:sab'))?.status).toBe(status)
  expect((await world.raise('disk_full_warning', { ...other, client: 'qbit' }, 'qbit'))?.status).toBe('held')
})

test('one cause is one event: a container that crashes again and again is not unhealthy too', async () => {
  await using world = await openStorm()
  const raiseUnhealthy = (name: string) =>
    world.raise('container_unhealthy', { name, status: 'restart loop', restarts: 3 }, name)
  await world.raise('server_crash', { server: 'arena', container: 'arena-1' })
  expect((await raiseUnhealthy('arena-1'))?.status).toBe('held')
  expect((await raiseUnhealthy('jellyfin'))?.status).toBe('pending')
})

test('a cause that only another agent heard of is told', async () => {
  await using world = await openStorm(
    { name: 'a', events: ['disk_high'] },
    { name: 'b', events: ['disk_full_warning'] },
  )
  await world.raise('disk_high', DISK)
  expect(await world.raise('disk_full_warning', { client: 'sab', free: 1 })).toMatchObject({
    status: 'pending',
    routedTo: ['thr_b'],
  })
})

const EDGES = ['server_crash', 'player_joined', 'webhook.grafana'] as const
const burst = fc.record({
  type: fc.constantFrom(...EDGES, 'cpu_high'),
  times: fc.integer({ min: 1, max: 10 }),
  gap: fc.oneof(fc.integer({ min: 0, max: 20 * SECOND }), fc.integer({ min: MINUTE, max: 3 * MINUTE })),
  pause: fc.oneof(
    fc.constantFrom(0, MINUTE - 1, MINUTE, 10 * MINUTE),
    fc.integer({ min: 0, max: 15 * MINUTE }),
  ),
})

test('over random events the wakes are bounded, and every event of an edge is told', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(burst, { minLength: 1, maxLength: 6 }), async bursts => {
      await using world = await openStorm()
      const raised: { type: string; at: number }[] = []
      for (const { type, times, gap, pause } of bursts) {
        for (let each = 0; each < times; each++) {
          raised.push({ type, at: world.clock.now() - world.began })
          await world.raise(type, { n: raised.length })
          await world.pass(gap)
        }
        await world.pass(pause)
      }
      await world.pass(25 * MINUTE)
      const wakes = world.wakes()
      expect(wakes.every(({ events }) => events.length > 0)).toBe(true)
      for (const type of EDGES) checkEdge(type, raised, wakes)
      checkSpacing(wakesWith(wakes, 'cpu_high'), 10 * MINUTE)
    }),
    { numRuns: 20 },
  )
}, 180_000)

type Wakes = ReturnType<typeof wakesOf>

const wakesWith = (wakes: Wakes, type: string) =>
  wakes.filter(({ events }) => events.some(event => event.type === type)).map(({ at }) => at)

function checkSpacing(times: readonly number[], least: number): void {
  for (const [index, at] of times.entries()) {
    const before = times[index - 1]
    if (before !== undefined) expect(at - before).toBeGreaterThanOrEqual(least)
  }
}

function checkEdge(type: string, all: readonly { type: string; at: number }[], wakes: Wakes): void {
  const raised = all.filter(event => event.type === type).map(({ at }) => at)
  const times = wakesWith(wakes, type)
  const told = wakes.flatMap(({ events }) => events.filter(event => event.type === type))
  expect(told.reduce((sum, event) => sum + event.times, 0)).toBe(raised.length)
  // The events of a minute join one batch.
  checkSpacing(times, MINUTE)
  // Three events and one of a storm go out in ten minutes; a batch gathered before may fall into them, too.
  for (const from of times)
    expect(times.filter(at => at >= from && at < from + 10 * MINUTE).length).toBeLessThanOrEqual(5)
  for (const [index, at] of raised.entries()) {
    const before = raised[index - 1]
    if (before === undefined || at - before > 11 * MINUTE) expect(times).toContain(at)
    else expect(times.some(time => time >= at && time <= at + 11 * MINUTE)).toBe(true)
  }
}
