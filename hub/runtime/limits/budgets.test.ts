import { expect, test } from 'vitest'
import { openWorld, type World } from '../../../tests/support/runtime-world.ts'
import { call, hold, refuse, say, type Turn } from '../../../tests/support/scripted-model.ts'
import { ModelError, type ModelRequest } from '../../core/model.ts'
import { createTokenCounter } from '../tokens.ts'
import { estimateInput } from './prices.ts'

const look = { name: 'look', run: () => ({ text: 'seen', isError: false }) }
const base = { steps: 30, minutes: 10 }
const PRICE = { currency: 'EUR', input: 1, cachedInput: 0.1, output: 2 }

type Asked = Pick<ModelRequest, 'system' | 'tools' | 'messages'>
const estimateOf = (request: Asked) => estimateInput(createTokenCounter(), 'scripted', request)
const told = (world: World) => world.seen.messages.all.filter(({ kind }) => kind === 'notice')
const days = (world: World) => world.store.db.selectFrom('usage_days').selectAll().orderBy('agent').execute()
const using =
  (input: number, output: number, turn = say('ok'), cachedInput = 0): Turn =>
  async (request, options) => ({ ...(await turn(request, options)), usage: { input, output, cachedInput } })

/** Returns the estimate of the first call of a quiet agent. */
async function firstEstimate(): Promise<number> {
  await using world = await openWorld()
  world.model.script(say('ok'))
  await world.start()
  await world.post('hi')
  await world.idle()
  const [request] = world.model.requests.all
  if (!request) throw new Error('Nothing was asked')
  return estimateOf(request)
}

test('promise 9: the tokens of a cycle stop it before the call that could exceed them, and say how to raise them', async () => {
  await using world = await openWorld({
    agents: [
      // The selection of tools keeps their tokens the same, however many meta-tools there are.
      { limits: { ...base, tokens: 20_000 }, tools: ['*', '!*_task*', '!read_messages'] },
    ],
    tools: [look],
  })
  world.model.script(
    using(9_000, 100, call([['look']])),
    using(9_000, 100, call([['look']])),
    say('on it again'),
  )
  await world.start()
  await world.post('go')
  await world.idle()
  expect(world.model.left).toBe(1)
  expect(told(world)).toMatchObject([
    {
      text: 'I stopped at the limit of one cycle: 18,200 tokens of 20,000 tokens are used, and another call of the model may not fit. Raise limits.tokens in agents/homelab.md, or tell me to go on.',
      data: { limit: 'limits.tokens', value: 20_000, used: 18_200 },
    },
  ])
  await world.post('go on')
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('on it again')
})

test('a reply becomes shorter where its longest does not fit', async () => {
  const first = await firstEstimate()
  await using world = await openWorld({ agents: [{ limits: { ...base, tokensPerDay: first + 400 } }] })
  world.model.script(say('short'))
  await world.start()
  await world.post('hi')
  await world.idle()
  expect(world.model.requests.all[0]?.maxOutput).toBe(400)
})

test('promise 9: the day of an agent ends its calls; each conversation is told once, and the next day all is answered', async () => {
  await using world = await openWorld({
    agents: [{ limits: { ...base, tokensPerDay: 6_000 }, conversations: ['homelab', 'phone'] }],
  })
  world.model.script(using(5_000, 100), say('good morning'))
  await world.start()
  await world.post('one')
  await world.idle()
  await world.post('two')
  await world.idle()
  await world.post('three')
  await world.idle()
  await world.post('four', 'phone')
  await world.idle()
  expect(world.model.left).toBe(1)
  expect(told(world).map(({ conversation }) => conversation)).toEqual(['homelab', 'phone'])
  expect(told(world)[0]?.text).toBe(
    'I stopped at my limit of a day: 5,100 tokens of 6,000 tokens are used, and another call of the model may not fit. I rest until Sun 2026-11-22 00:00 (Europe/Berlin); what is written until then waits, and I answer it then. To have me go on before, raise limits.tokensPerDay in agents/homelab.md.',
  )
  const midnight = Date.parse('2026-11-21T23:00:00Z')
  expect(await world.store.db.selectFrom('threads').select('not_before').execute()).toEqual([
    { not_before: midnight },
  ])
  expect(world.seen.states.all.at(-1)?.status).toBe('waiting')
  world.clock.advance(midnight - world.clock.now() - 1)
  world.runtime.wake('thr_homelab')
  await world.idle()
  expect(world.model.left).toBe(1)
  world.clock.advance(1)
  world.runtime.wake('thr_homelab')
  await world.idle()
  const items = world.model.requests.all[1]?.messages.at(-1)
  expect(items?.role === 'user' && items.items.map(({ text }) => text)).toEqual(['two', 'three', 'four'])
  expect((await days(world)).map(({ day, tokens }) => [day, tokens])).toEqual([
    ['2026-11-21', 5_100],
    ['2026-11-22', 15],
  ])
})

test('a limit that was raised lets go on what it held', async () => {
  await using world = await openWorld({ agents: [{ limits: { ...base, tokensPerDay: 1_000 } }] })
  world.model.script(say('at last'))
  await world.start()
  await world.post('hi')
  await world.idle()
  expect(told(world)).toHaveLength(1)
  const agent = world.agents.get('homelab')
  if (agent) agent.limits.tokensPerDay = 100_000
  await world.runtime.wakeAll()
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('at last')
})

test('promise 9: money is counted by its prices, what was cached cheaper', async () => {
  await using world = await openWorld({
    model: { price: PRICE },
    agents: [{ limits: { ...base, moneyPerDay: 0.01 } }],
  })
  world.model.script(using(6_000, 500, say('ok'), 5_000))
  await world.start()
  await world.post('one')
  await world.idle()
  // The call takes 1,000 fresh, 5,000 cached and 500 output tokens.
  const micros = 1_000 * 1 + 5_000 * 0.1 + 500 * 2
  expect((await days(world))[0]?.cost_micros).toBe(micros)
  expect(await world.store.db.selectFrom('cycles').select('cost_micros').execute()).toEqual([
    { cost_micros: micros },
  ])
  const agent = world.agents.get('homelab')
  if (agent) agent.limits.moneyPerDay = 0.003
  await world.post('two')
  await world.idle()
  expect(told(world)[0]).toMatchObject({
    text: expect.stringContaining('0.0025 of 0.003 are used'),
    data: { limit: 'limits.moneyPerDay', value: 0.003, used: 0.0025 },
  })
})

test('promise 9: the budget of all agents counts what each used', async () => {
  await using world = await openWorld({
    model: { price: PRICE },
    agents: [{ name: 'homelab' }, { name: 'zoe' }],
    budget: { tokensPerDay: 6_000, moneyPerDay: 9, currency: 'EUR' },
  })
  world.model.script(using(5_000, 100))
  await world.start()
  await world.post('one')
  await world.idle()
  await world.post('two', 'zoe')
  await world.idle()
  expect(told(world)).toMatchObject([
    { conversation: 'zoe', text: expect.stringContaining('raise budget.tokensPerDay in superbloom.yaml.') },
  ])
  expect((await days(world)).map(({ agent }) => agent)).toEqual(['homelab'])
})

test('promise 9: calls that run at once never exceed a budget together, by not even one', async () => {
  const first = await firstEstimate()
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  // The limit has room for two calls that take all they may, and a little more.
  const limit = 2 * (first + 1024) + 200
  await using world = await openWorld({
    agents: names.map(name => ({ name, tools: ['*'], prompt: 'You look after the homelab.' })),
    budget: { tokensPerDay: limit },
  })
  let running = 0
  let most = 0
  const greedy: Turn = async (request, options) => {
    running++
    most = Math.max(most, running)
    await new Promise(resolve => setImmediate(resolve))
    running--
    const reply = await say('ok')(request, options)
    return { ...reply, usage: { input: estimateOf(request), output: request.maxOutput, cachedInput: 0 } }
  }
  world.model.script(...names.map(() => greedy))
  await world.start()
  await Promise.all(names.map(name => world.post('go', name)))
  await world.idle()
  const used = (await days(world)).reduce((sum, { tokens }) => sum + tokens, 0)
  expect(used).toBeLessThanOrEqual(limit)
  expect(most).toBe(2)
  expect(world.model.requests.all).toHaveLength(2)
  expect(told(world)).toHaveLength(4)
})

test('a cycle waits for room that a call which runs may leave, and takes it', async () => {
  const first = await firstEstimate()
  await using world = await openWorld({
    agents: [{ name: 'a' }, { name: 'b' }],
    budget: { tokensPerDay: first + 1024 + 100 },
  })
  const held = hold(using(20, 5))
  world.model.script(held.turn, say('second'))
  await world.start()
  await world.post('go', 'a')
  await held.begun
  await world.post('go', 'b')
  expect(world.runtime.isActive('thr_b')).toBe(true)
  expect(world.model.left).toBe(1)
  held.release()
  await world.idle()
  expect(told(world)).toEqual([])
  expect(world.seen.messages.all.at(-1)?.text).toBe('second')
})

test('a provider that counts nothing is charged the estimate', async () => {
  await using world = await openWorld()
  world.model.script(async (request, options) => {
    const { usage: _, ...reply } = await say('a reply of six words')(request, options)
    return reply
  })
  await world.start()
  await world.post('hi')
  await world.idle()
  const [request] = world.model.requests.all
  if (!request) throw new Error('Nothing was asked')
  const [cycle] = await world.store.db.selectFrom('cycles').selectAll().execute()
  expect([cycle?.input_tokens, cycle?.output_tokens]).toEqual([estimateOf(request), 5])
  expect((await days(world))[0]?.tokens).toBe(estimateOf(request) + 5)
})

test('promise 9: a call that a crash cut is charged its estimate when the cycle goes on', async () => {
  await using world = await openWorld({ model: { price: PRICE } })
  const held = hold(say('never heard'))
  world.model.script(held.turn, using(50, 7))
  await world.start()
  await world.post('hi')
  await held.begun
  world.kill()
  await world.start()
  await world.idle()
  const estimate = estimateOf(world.model.requests.all[0] ?? { system: '', tools: [], messages: [] })
  expect((await days(world))[0]).toMatchObject({
    tokens: estimate + 1024 + 57,
    cost_micros: estimate + 2 * 1024 + 50 + 2 * 7,
  })
})

test('promise 9: a crash cannot make a day longer: what it charged counts', async () => {
  const first = await firstEstimate()
  await using world = await openWorld({ agents: [{ limits: { ...base, tokensPerDay: first + 1024 + 500 } }] })
  const held = hold(say('never heard'))
  world.model.script(held.turn)
  await world.start()
  await world.post('hi')
  await held.begun
  world.kill()
  await world.start()
  await world.idle()
  expect(told(world)).toMatchObject([{ data: { limit: 'limits.tokensPerDay' } }])
})

test('a refusal costs nothing; a stream that broke costs what came', async () => {
  await using world = await openWorld()
  world.model.script(refuse('rejected'))
  await world.start()
  await world.post('hi')
  await world.idle()
  expect(await days(world)).toEqual([])
  const broken: Turn = (request, options) => {
    options.onText('three words came')
    return refuse('broken_stream')(request, options)
  }
  world.model.script(broken, using(5, 5))
  await world.post('again')
  await world.clock.armed(1_500)
  world.clock.advance(1_500)
  await world.idle()
  const estimate = estimateOf(world.model.requests.all[1] ?? { system: '', tools: [], messages: [] })
  expect((await days(world))[0]?.tokens).toBe(estimate + 4 + 10)
})

test.each([
  { kind: 'network', begun: { written: 'three words came' }, took: (input: number) => input + 4 },
  { kind: 'server', begun: { written: 'three words came' }, took: (input: number) => input + 4 },
  {
    kind: 'rejected',
    begun: { written: '', usage: { input: 40, output: 2, cachedInput: 0 } },
    took: () => 42,
  },
] as const)('a reply that had begun is paid, also where it ends by $kind', async ({ kind, begun, took }) => {
  await using world = await openWorld()
  const failure = Object.assign(new ModelError(kind, 'It failed.'), { begun })
  world.model.script(() => Promise.reject(failure), using(5, 5))
  await world.start()
  await world.post('hi')
  if (kind !== 'rejected') {
    await world.clock.armed(1_500)
    world.clock.advance(1_500)
  }
  await world.idle()
  const estimate = estimateOf(world.model.requests.all[0] ?? { system: '', tools: [], messages: [] })
  expect((await days(world))[0]?.tokens).toBe(took(estimate) + (kind === 'rejected' ? 0 : 10))
})

test('what the day used survives a restart', async () => {
  await using world = await openWorld({ agents: [{ limits: { ...base, tokensPerDay: 6_000 } }] })
  world.model.script(using(5_500, 100))
  await world.start()
  await world.post('one')
  await world.idle()
  world.kill()
  await world.start()
  await world.post('two')
  await world.idle()
  expect(told(world)).toHaveLength(1)
  expect(world.model.requests.all).toHaveLength(1)
})
