import { expect, test } from 'vitest'
import {
  NETWORK_WAITS,
  openLetters,
  parkOne,
  said,
  statuses,
  told,
} from '../../tests/support/failing-world.ts'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { hold, refuse, say } from '../../tests/support/scripted-model.ts'
import { server } from '../../tests/support/test-database.ts'
import { requestStops } from '../store/stops.ts'
import { endTask } from '../store/tasks.ts'
import { postEventTo } from './tasks.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const notBefore = async (world: World) =>
  (await world.store.db.selectFrom('threads').select('not_before').executeTakeFirstOrThrow()).not_before

test('promise 4: a provider that cannot be reached parks the cycle: one notice, no lease, no timer', async () => {
  await using world = await openWorld()
  await world.start()
  await parkOne(world)
  const [first, parked] = told(world)
  expect(told(world)).toHaveLength(2)
  expect(first?.data).toMatchObject({ attempt: 3, of: 5, retryable: true })
  expect(parked?.kind).toBe('error')
  const retryAt = world.clock.now() + 30_000
  expect(parked?.data).toEqual({ attempt: 6, of: 6, retryAt, retryable: true, parked: true })
  expect(await statuses(world)).toEqual(['running'])
  const [thread] = await world.store.db.selectFrom('threads').selectAll().execute()
  expect(thread).toMatchObject({ lease_owner: null, not_before: retryAt, status: 'waiting' })
  expect(await world.nextDue()).toBe(retryAt)
  expect(world.clock.timers).toBe(0)
  expect(world.seen.states.all.at(-1)?.status).toBe('waiting')
})

test('promise 4: once its circuit closes the cycle goes on, and that is told once', async () => {
  await using world = await openWorld()
  await world.start()
  await parkOne(world)
  world.model.script(refuse('network'), say('here I am'))
  world.clock.advance(30_000)
  await world.fireDue()
  await world.idle()
  // The thread that tries fails: the time doubles, and nobody is told again.
  expect(await notBefore(world)).toBe(world.clock.now() + MINUTE)
  expect(told(world)).toHaveLength(2)
  world.clock.advance(MINUTE)
  await world.fireDue()
  await world.idle()
  expect(said(world)).toEqual(['here I am'])
  expect(
    told(world)
      .map(({ text }) => text)
      .slice(2),
  ).toEqual(['The model answers again; I go on.'])
  expect(await statuses(world)).toEqual(['done'])
  expect(await world.nextDue()).toBeUndefined()
})

test('messages to a parked thread wait, reset nothing, and each conversation is told once', async () => {
  await using world = await openWorld({ agents: [{ conversations: ['homelab', 'phone'] }] })
  await world.start()
  await parkOne(world)
  const asked = world.model.requests.all.length
  const retryAt = await notBefore(world)
  for (const text of ['are you there?', 'hello?']) {
    await world.post(text, 'phone')
    await world.idle()
    await world.post(text, 'homelab')
    await world.idle()
  }
  expect(world.model.requests.all).toHaveLength(asked)
  expect(await notBefore(world)).toBe(retryAt)
  expect(
    told(world)
      .slice(2)
      .map(({ conversation }) => conversation),
  ).toEqual(['phone'])
  world.model.script(say('first'), say('then the desk'), say('then the phone'))
  world.clock.advance(30_000)
  await world.fireDue()
  await world.idle()
  expect(said(world)).toEqual(['first', 'then the desk', 'then the phone'])
})

test('promise 4: after 24 hours a parked cycle is a dead letter', async () => {
  await using world = await openWorld()
  await world.start()
  await parkOne(world)
  const since = world.clock.now()
  world.model.script(...Array.from({ length: 300 }, () => refuse('network')))
  for (let turns = 0; (await statuses(world))[0] === 'running' && turns < 300; turns++) {
    const due = await world.nextDue()
    world.clock.advance((due ?? 0) - world.clock.now())
    await world.fireDue()
    await world.idle()
  }
  expect(world.clock.now() - since).toBe(DAY)
  expect(await statuses(world)).toEqual(['dead'])
  expect((await openLetters(world))[0]).toMatchObject({ retryable: true, items: [{ text: 'hi' }] })
  expect(told(world)).toHaveLength(3)
})

test('parked cycles stay parked over restarts, which count as no crash', async () => {
  await using world = await openWorld()
  await world.start()
  await parkOne(world)
  const asked = world.model.requests.all.length
  for (let life = 0; life < 5; life++) {
    if (life % 2 === 0) world.kill()
    else await world.runtime[Symbol.asyncDispose]()
    await world.start()
    await world.idle()
  }
  expect(world.model.requests.all).toHaveLength(asked)
  world.model.script(say('at last'))
  world.clock.advance(30_000)
  await world.fireDue()
  await world.idle()
  expect(said(world)).toEqual(['at last'])
  expect(told(world)).toHaveLength(3)
})

test('of many parked cycles one finds out whether the provider is back, then all go on', async () => {
  const names = ['a', 'b', 'c', 'd']
  await using world = await openWorld({ agents: names.map(name => ({ name })) })
  await world.start()
  await parkOne(world, 'hi', 'a')
  // The circuit is open, so the others wait for the provider without a call.
  const asked = world.model.requests.all.length
  for (const name of names.slice(1)) await world.post('hi', name)
  await world.idle()
  expect(world.model.requests.all).toHaveLength(asked)
  const probe = hold(say('one'))
  world.model.script(probe.turn, say('two'), say('three'), say('four'))
  world.clock.advance(30_000)
  await world.fireDue()
  await probe.begun
  expect(world.model.requests.all).toHaveLength(asked + 1)
  probe.release()
  await world.idle()
  await world.seen.messages.find('the last answers', ({ text }) => text === 'four')
  expect(said(world).toSorted()).toEqual(['four', 'one', 'three', 'two'])
})

const deaths = [2, 3, 4, 5, 6, 7, 8].flatMap(write => [
  { write, when: 'before' as const },
  { write, when: 'after' as const },
])

test.for(deaths)('killed $when write $write of a cycle that is parked, it is answered once', async death => {
  await using world = await openWorld()
  world.model.script(...Array.from({ length: 6 }, () => refuse('network')), say('here'), say('here'))
  await world.start(death)
  void world.post('hi').catch(() => undefined)
  let isDead = false
  void world.died.then(() => {
    isDead = true
  })
  const answered = () => said(world).length > 0
  const goOn = async () => {
    await new Promise(resolve => setImmediate(resolve))
    // The clock must not run ahead of a server: what the hub reads and writes next comes before these writes.
    if (server !== undefined)
      for (let round = 0; round < 4; round++) await world.store.write(async () => undefined)
    world.clock.advance(5_000)
    await Promise.race([world.fireDue(), world.died])
  }
  for (let turn = 0; turn < 200 && !isDead && !answered(); turn++) await goOn()
  world.kill()
  await world.start()
  for (let turn = 0; turn < 200 && !answered(); turn++) await goOn()
  await world.idle()
  expect(said(world)).toEqual(['here'])
  const parked = await world.store.db.selectFrom('messages').select('data_json').execute()
  const notices = parked.filter(({ data_json: data }) => data?.includes('"parked":true'))
  expect(notices.length).toBeLessThanOrEqual(1)
  expect(await statuses(world)).toEqual(['done'])
})

/** Waits until a cycle makes its last try before it is parked. */
async function beforeParking(world: World) {
  const last = hold(refuse('network'))
  world.model.script(...NETWORK_WAITS.map(() => refuse('network')), last.turn)
  let timers = 0
  for (const wait of NETWORK_WAITS) {
    timers = await world.clock.armed(wait, timers)
    world.clock.advance(wait)
  }
  await last.begun
  return last
}

test('a stop that comes while a cycle is being parked ends it at once', async () => {
  await using world = await openWorld()
  await world.start()
  await world.post('hi')
  const last = await beforeParking(world)
  // The stop is written down before the parking, and noticed after it.
  const stopped = world.store.write(tx => requestStops(tx, { threads: ['thr_homelab'] }, 'alex'))
  last.release()
  const [cycle] = await stopped
  world.runtime.wake(cycle?.thread ?? '')
  await world.idle()
  expect(await statuses(world)).toEqual(['stopped'])
})

test('a task that is cancelled while it is being parked ends at once', async () => {
  await using world = await openWorld()
  await world.start()
  const event = { id: 'evt_1', type: 'temp_high', source: 'metrics', payload: {}, at: 1 }
  const taker = { agent: 'homelab', thread: 'thr_homelab.task_1' }
  await world.store.write(tx => postEventTo(tx, taker, event, { now: 1, power: 'routine' }))
  world.runtime.wake('thr_homelab.task_1')
  const last = await beforeParking(world)
  const end = { status: 'cancelled' as const, summary: 'x', now: world.clock.now(), by: 'thr_homelab' }
  const ended = world.store.write(tx => endTask(tx, 'thr_homelab.task_1', end))
  last.release()
  for (const thread of (await ended).woken) world.runtime.wake(thread)
  await world.idle()
  expect(await statuses(world)).toEqual(['stopped'])
  expect(await world.nextDue()).toBeUndefined()
})

test.for(['reset', 'stop'] as const)(
  'a %s ends a parked cycle at once, and the next one begins',
  async how => {
    await using world = await openWorld()
    await world.start()
    await parkOne(world, 'old secret')
    await world.post('waits meanwhile')
    await world.idle()
    const asked = world.model.requests.all.length
    if (how === 'reset') await world.reset({ agent: 'homelab', by: 'alex' })
    else await world.router.stop({ conversation: 'homelab' }, 'alex')
    // The circuit is still open: what waited is parked in its turn.
    await world.seen.ended.find('the parked one ends', () => true)
    await world.idle()
    expect(await statuses(world)).toEqual(['stopped', 'running'])
    expect(world.model.requests.all).toHaveLength(asked)
    expect(told(world).filter(({ text }) => text.includes('I was stopped by alex'))).toHaveLength(1)
    world.model.script(say('here'))
    world.clock.advance(30_000)
    await world.fireDue()
    await world.idle()
    expect(said(world)).toEqual(['here'])
    expect(world.seen.ended.all).toHaveLength(2)
    const seen = world.model.requests.all
      .at(-1)
      ?.messages.map(({ text }) => text)
      .join('\n')
    expect(seen?.includes('old secret')).toBe(how === 'stop')
    expect(seen).toContain('waits meanwhile')
  },
)
