import { expect, test } from 'vitest'
import { openWorld, type World } from '../../../tests/support/runtime-world.ts'
import { say } from '../../../tests/support/scripted-model.ts'

const base = { steps: 30, minutes: 10 }
const HOUR = 3_600_000

const told = (world: World) => world.seen.messages.all.filter(({ kind }) => kind === 'notice')
const days = (world: World) => world.store.db.selectFrom('usage_days').selectAll().orderBy('day').execute()

test('promise 9: wakes of a day are limited; what woke nobody waits for the next day', async () => {
  await using world = await openWorld({
    agents: [{ limits: { ...base, wakesPerDay: 2 }, events: ['beep'] }],
  })
  world.model.script(say(''), say(''), say('hello'), say(''))
  await world.start()
  const beep = async (id: string) => {
    await world.router.postEvent({
      source: 's',
      externalId: id,
      type: 'beep',
      payload: { id },
      at: world.clock.now(),
    })
    await world.idle()
  }
  for (const id of ['1', '2', '3', '4']) await beep(id)
  expect(world.model.left).toBe(2)
  expect(told(world)).toMatchObject([
    {
      conversation: 'homelab',
      text: "I have woken 2 times today without a person's message; the limit is 2. Wake-ups and events wait until Sun 2026-11-22 00:00 (Europe/Berlin). To have them wake me before, raise limits.wakesPerDay in agents/homelab.md.",
    },
  ])
  await world.post('hi')
  await world.idle()
  const batch = world.model.requests.all[2]?.messages.at(-1)
  expect(batch?.role === 'user' && batch.items.map(({ kind }) => kind)).toEqual(['message'])
  await beep('5')
  world.clock.advance(HOUR)
  world.runtime.wake('thr_homelab')
  await world.idle()
  expect((await days(world)).map(({ day, wakes }) => [day, wakes])).toEqual([
    ['2026-11-21', 2],
    ['2026-11-22', 1],
  ])
})

test('what waits for its agent begins only when there is room, and is never half begun', async () => {
  await using world = await openWorld({
    agents: [{ limits: { ...base, tokensPerDay: 500 }, events: ['beep'] }],
  })
  await world.start()
  await world.router.postEvent({
    source: 's',
    externalId: '1',
    type: 'beep',
    payload: {},
    at: world.clock.now(),
  })
  await world.post('hi')
  await world.idle()
  const count = async (table: 'cycles' | 'history') =>
    (await world.store.db.selectFrom(table).selectAll().execute()).length
  expect([await count('cycles'), await count('history')]).toEqual([0, 0])
  const inbox = await world.store.db.selectFrom('inbox').select('cycle_id').execute()
  expect(inbox).toEqual([{ cycle_id: null }, { cycle_id: null }])
  const [event] = await world.store.db.selectFrom('events').select('status').execute()
  expect(event?.status).toBe('pending')
  const [thread] = await world.store.db.selectFrom('threads').select(['status', 'lease_owner']).execute()
  expect(thread).toEqual({ status: 'sleeping', lease_owner: null })
})
