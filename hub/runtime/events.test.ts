import { expect, test } from 'vitest'
import type { HookEvent, Once } from '../../schemas/webhooks.ts'
import { openWorld } from '../../tests/support/runtime-world.ts'

const MINUTE = 60_000

async function openQuiet() {
  const world = await openWorld({ agents: [{ events: ['webhook.*'] }] })
  await world.start()
  world.semaphore.resize(0)
  const deliver = async (once: Once, name = 'door') => {
    const event: HookEvent = {
      source: `webhook:${name}`,
      type: `webhook.${name}`,
      payload: { open: true },
      at: world.clock.now(),
      once,
    }
    const [outcome] = await world.router.postHook([event])
    return outcome ?? expect.unreachable('an outcome')
  }
  const content = (state: string, over: Partial<Extract<Once, { kind: 'content' }>> = {}): Once => ({
    kind: 'content',
    subject: 'door',
    state,
    within: 10 * MINUTE,
    ...over,
  })
  const inbox = () => world.store.db.selectFrom('inbox').selectAll().execute()
  return Object.assign(world, { deliver, content, inbox })
}

test('what its sender calls the same delivery is one event, however late it comes', async () => {
  await using world = await openQuiet()
  const first = await world.deliver({ kind: 'id', id: 'one:0' })
  expect(first.status).toBe('pending')
  world.clock.advance(24 * 60 * MINUTE)
  expect(await world.deliver({ kind: 'id', id: 'one:0' })).toEqual({ ...first, repeated: true })
  expect(await world.deliver({ kind: 'id', id: 'two:0' })).not.toHaveProperty('repeated')
  expect(await world.deliver({ kind: 'id', id: 'one:0' }, 'gate')).not.toHaveProperty('repeated')
  expect(await world.inbox()).toHaveLength(3)
})

test('the same content is one event for a while, and news afterwards', async () => {
  await using world = await openQuiet()
  const first = await world.deliver(world.content('open'))
  world.clock.advance(9 * MINUTE)
  expect(await world.deliver(world.content('open'))).toEqual({ ...first, repeated: true })
  world.clock.advance(MINUTE)
  expect(await world.deliver(world.content('open'))).not.toHaveProperty('repeated')
  expect(await world.inbox()).toHaveLength(2)
})

test('a state that was left and comes back is news', async () => {
  await using world = await openQuiet()
  for (const state of ['open', 'closed', 'open']) {
    expect(await world.deliver(world.content(state))).not.toHaveProperty('repeated')
    world.clock.advance(MINUTE)
  }
  expect(await world.deliver(world.content('open'))).toMatchObject({ repeated: true })
  expect(await world.inbox()).toHaveLength(3)
})

test('subjects and hooks are apart, also where one name begins another', async () => {
  await using world = await openQuiet()
  await world.deliver(world.content('open'))
  expect(await world.deliver(world.content('open', { subject: 'doo' }))).not.toHaveProperty('repeated')
  expect(await world.deliver(world.content('open', { subject: 'doors' }))).not.toHaveProperty('repeated')
  expect(await world.deliver(world.content('open'), 'gate')).not.toHaveProperty('repeated')
  expect(await world.store.db.selectFrom('events').selectAll().execute()).toHaveLength(4)
})

test('a delivery that came while the clock was ahead holds nothing for ever', async () => {
  await using world = await openQuiet()
  await world.deliver(world.content('open'))
  world.clock.jump(-60 * MINUTE)
  expect(await world.deliver(world.content('open'))).not.toHaveProperty('repeated')
})

test('deliveries that arrive together are taken one by one', async () => {
  await using world = await openQuiet()
  const all = await Promise.all(Array.from({ length: 20 }, () => world.deliver(world.content('open'))))
  expect(all.filter(({ repeated }) => repeated)).toHaveLength(19)
  expect(new Set(all.map(({ id }) => id)).size).toBe(1)
  expect(await world.inbox()).toHaveLength(1)
})
