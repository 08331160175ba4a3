import { expect, test } from 'vitest'
import { openWorld, type World } from '../../../tests/support/runtime-world.ts'
import { call, say, type Turn } from '../../../tests/support/scripted-model.ts'

const base = { steps: 30, minutes: 10 }
const look = { name: 'look', run: () => ({ text: 'seen', isError: false }) }
const told = (world: World) => world.seen.messages.all.filter(({ kind }) => kind === 'notice')
const using =
  (input: number, output: number, turn: Turn): Turn =>
  async (request, options) => ({
    ...(await turn(request, options)),
    usage: { input, output, cachedInput: 0 },
  })
const MIDNIGHT = Date.parse('2026-11-21T23:00:00Z')

/** Opens a world in which the day's budget is used up after the first step of a cycle. */
async function openHeld() {
  const world = await openWorld({
    agents: [{ limits: { ...base, tokensPerDay: 11_000 }, conversations: ['homelab', 'phone'] }],
    tools: [look],
  })
  world.model.script(using(9_000, 100, call([['look']])), say('I have looked'))
  await world.start()
  const asked = await world.post('look around')
  await world.idle()
  return { world, asked, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

test('promise 9: a day that ends in the midst of a cycle holds it; what was asked is answered the next day', async () => {
  await using held = await openHeld()
  const { world, asked } = held
  expect(told(world)).toMatchObject([
    { conversation: 'homelab', text: expect.stringContaining('I rest until'), inReplyTo: [asked.id] },
  ])
  expect(await world.store.db.selectFrom('cycles').select(['status', 'attempts']).execute()).toEqual([
    { status: 'running', attempts: 1 },
  ])
  expect(world.seen.ended.all).toEqual([])
  expect(world.seen.states.all.at(-1)?.status).toBe('waiting')
  expect(await world.store.db.selectFrom('threads').select('status').execute()).toEqual([
    { status: 'waiting' },
  ])
  world.clock.advance(MIDNIGHT - world.clock.now())
  expect(await world.nextDue()).toBe(MIDNIGHT)
  await world.fireDue()
  await world.idle()
  expect(world.seen.messages.all.at(-1)).toMatchObject({ kind: 'agent', text: 'I have looked' })
  const [cycle] = await world.store.db.selectFrom('cycles').selectAll().execute()
  // The last call of the day before was not cut, so nothing is charged for it again.
  expect(cycle).toMatchObject({ status: 'done', note: null, steps: 2, input_tokens: 9_010 })
  expect(told(world)).toHaveLength(1)
})

test('who writes to a cycle that is held is told once, and is answered after it', async () => {
  await using held = await openHeld()
  const { world } = held
  await world.post('and now?')
  await world.idle()
  for (const text of ['hello?', 'anybody?', 'please?', 'still?']) {
    await world.post(text, 'phone')
    await world.idle()
  }
  expect(told(world).map(({ conversation }) => conversation)).toEqual(['homelab', 'phone'])
  expect(world.model.requests.all).toHaveLength(1)
  world.model.script(say('to the phone'), say('to homelab'))
  world.clock.advance(MIDNIGHT - world.clock.now())
  await world.fireDue()
  await world.idle()
  const answers = world.seen.messages.all.filter(({ kind }) => kind === 'agent')
  expect(answers.map(({ conversation }) => conversation)).toEqual(['homelab', 'phone', 'homelab'])
  expect(await world.store.db.selectFrom('dead_letters').selectAll().execute()).toEqual([])
})

test('a held cycle survives restarts, and a limit that was raised lets it go on', async () => {
  await using held = await openHeld()
  const { world } = held
  for (let restart = 0; restart < 5; restart++) {
    world.kill()
    await world.start()
    await world.idle()
  }
  expect(told(world)).toHaveLength(1)
  const agent = world.agents.get('homelab')
  if (agent) agent.limits.tokensPerDay = 100_000
  await world.runtime.wakeAll()
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('I have looked')
})

test('a held cycle can be stopped', async () => {
  await using held = await openHeld()
  const { world } = held
  await world.router.stop({ conversation: 'homelab' }, 'alex')
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toMatch(/^I was stopped by alex\./)
  const [cycle] = await world.store.db.selectFrom('cycles').select('status').execute()
  expect(cycle?.status).toBe('stopped')
})
