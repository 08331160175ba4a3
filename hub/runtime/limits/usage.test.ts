import { expect, test } from 'vitest'
import { openWorld, type World } from '../../../tests/support/runtime-world.ts'
import { call, hold, say, type Turn } from '../../../tests/support/scripted-model.ts'
import { ModelError, type ModelRequest } from '../../core/model.ts'
import { createTokenCounter } from '../tokens.ts'
import { estimateInput } from './prices.ts'

const look = { name: 'look', run: () => ({ text: 'seen', isError: false }) }
const base = { steps: 30, minutes: 10 }

type Asked = Pick<ModelRequest, 'system' | 'tools' | 'messages'>
const estimateOf = (request: Asked) => estimateInput(createTokenCounter(), 'scripted', request)
const told = (world: World) => world.seen.messages.all.filter(({ kind }) => kind === 'notice')
const days = (world: World) => world.store.db.selectFrom('usage_days').selectAll().orderBy('agent').execute()
const using =
  (input: number, output: number, turn = say('ok'), cachedInput = 0): Turn =>
  async (request, options) => ({ ...(await turn(request, options)), usage: { input, output, cachedInput } })

test('what came from the cache counts a tenth, of a cycle and of a day', async () => {
  await using world = await openWorld({
    agents: [{ limits: { ...base, tokens: 40_000, tokensPerDay: 40_000 } }],
    tools: [look],
  })
  const calls = Array.from({ length: 9 }, (_none, n) => using(10_000, 100, call([['look', { n }]]), 9_000))
  world.model.script(...calls, using(10_000, 100, say('done'), 9_000))
  await world.start()
  await world.post('look around')
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('done')
  expect((await days(world))[0]?.tokens).toBe(10 * (1_000 + 900 + 100))
})

test('a cycle that a crash cut still counts a tenth of what came from the cache', async () => {
  await using world = await openWorld({ agents: [{ limits: { ...base, tokens: 40_000 } }], tools: [look] })
  const held = hold(say('never heard'))
  const looks = [1, 2, 3, 4].map(n => using(10_000, 100, call([['look', { n }]]), 9_000))
  world.model.script(...looks, held.turn, say('done'))
  await world.start()
  await world.post('look around')
  await held.begun
  world.kill()
  await world.start()
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('done')
})

test('one absurd usage figure does not use up the day, and nobody learns from it', async () => {
  await using world = await openWorld({ agents: [{ limits: { ...base, tokensPerDay: 500_000 } }] })
  world.model.script(
    using(1e12, 1e12),
    using(-5, Number.POSITIVE_INFINITY, say('fine'), 1e15),
    say('all is well'),
  )
  await world.start()
  for (const text of ['one', 'two', 'three']) {
    await world.post(text)
    await world.idle()
  }
  expect(told(world)).toEqual([])
  expect(world.seen.messages.all.at(-1)?.text).toBe('all is well')
  const [first] = world.model.requests.all
  if (!first) throw new Error('Nothing was asked')
  const most = 5 * estimateOf(first) + 1_024 + first.maxOutput
  const cycles = await world.store.db.selectFrom('cycles').selectAll().execute()
  const counted = cycles.map(({ input_tokens: input, output_tokens: output }) => input + output)
  expect(Math.max(...counted)).toBe(most)
  expect(world.seen.log.all.filter(({ event }) => event === 'usage_not_believed')).toHaveLength(2)
})

test('an absurd usage figure of a stream that broke is bounded too', async () => {
  await using world = await openWorld({ agents: [{ limits: { ...base, tokensPerDay: 500_000 } }] })
  const begun = { written: 'three words came', usage: { input: 1e12, output: 1e12, cachedInput: 0 } }
  const failure = Object.assign(new ModelError('broken_stream', 'It broke.'), { begun })
  world.model.script(() => Promise.reject(failure), say('here'))
  await world.start()
  await world.post('hi')
  await world.clock.armed(1_500)
  world.clock.advance(1_500)
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('here')
})

test('promise 9: how a model counts is known after a restart, so that no call exceeds the day', async () => {
  await using world = await openWorld()
  world.model.script(
    (request, options) => using(estimateOf(request) * 3, 10)(request, options),
    say('beyond the day'),
  )
  await world.start()
  await world.post('hi')
  await world.idle()
  world.kill()
  const limits = world.agents.get('homelab')?.limits
  const [request] = world.model.requests.all
  if (limits && request) limits.tokensPerDay = estimateOf(request) * 4.3
  await world.start()
  await world.post('and now?')
  await world.idle()
  expect(world.model.left).toBe(1)
})
