import { expect, test } from 'vitest'
import { OWNER, onlyApproval, untilSaid } from '../../../tests/support/approvals.ts'
import { askingTool } from '../../../tests/support/questions.ts'
import { openWorld, type World, type WorldOptions } from '../../../tests/support/runtime-world.ts'
import { call, hold, refuse, say, type Turn } from '../../../tests/support/scripted-model.ts'
import type { JsonObject } from '../../core/forwarding.ts'
import { estimateInput } from '../limits/prices.ts'
import { createTokenCounter } from '../tokens.ts'

const PRICE = { currency: 'EUR', input: 1, cachedInput: 0.1, output: 2 }
const text = (words: string) => ({ type: 'text', text: words })
const REQUEST: JsonObject = {
  systemPrompt: 'Be short.',
  messages: [
    { role: 'user', content: text('Name a color') },
    { role: 'assistant', content: [text('Which kind?')] },
    { role: 'user', content: [text('Any, like this:'), { type: 'image', data: '', mimeType: 'image/png' }] },
  ],
  maxTokens: 50,
}

async function openSampling(questions: JsonObject[], turns: readonly Turn[], options: WorldOptions = {}) {
  const sampling = askingTool('sampling/createMessage', ...questions)
  const world = await openWorld({ tools: [sampling.tool], ...options })
  world.model.script(call([['setup']]), ...turns)
  await world.start()
  await world.post('go')
  return { ...sampling, world, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

const used = async ({ store }: World) => {
  const cycle = await store.db
    .selectFrom('cycles')
    .select(['steps', 'input_tokens', 'output_tokens', 'cost_micros'])
    .orderBy('steps', 'desc')
    .executeTakeFirstOrThrow()
  const day = await store.db.selectFrom('usage_days').select(['tokens', 'cost_micros']).executeTakeFirst()
  return { cycle, day }
}

/** Returns the estimated tokens of the request with this index. */
const estimateOf = (world: World, index: number) => {
  const request = world.model.requests.all[index]
  if (!request) throw new Error('There is no such request')
  return estimateInput(createTokenCounter(), 'scripted', request)
}

test('a server has the model of the agent write, and the cycle pays for it', async () => {
  await using sampling = await openSampling([REQUEST], [say('blue'), say('done')], {
    model: { price: PRICE },
  })
  const { world, answers } = sampling
  await world.idle()
  expect(answers).toEqual([
    { role: 'assistant', content: text('blue'), model: 'scripted', stopReason: 'endTurn' },
  ])
  expect(world.model.requests.all[1]).toMatchObject({
    system: 'Be short.',
    tools: [],
    maxOutput: 50,
    messages: [
      { role: 'user', text: 'Name a color' },
      { role: 'assistant', text: 'Which kind?', calls: [] },
      { role: 'user', text: 'Any, like this:\n[image of type image/png, which this model cannot take in]' },
    ],
  })
  // The cycle makes three calls of 10 and 5 tokens, two of them steps.
  expect(await used(world)).toEqual({
    cycle: { steps: 2, input_tokens: 30, output_tokens: 15, cost_micros: 60 },
    day: { tokens: 45, cost_micros: 60 },
  })
  expect(world.seen.deltas.all.map(delta => delta.text).join('')).toBe('done')
})

test.each([
  [{ ...REQUEST, tools: [{ name: 'x' }] }, 'tools: an agent’s model is given none of a server'],
  [{ ...REQUEST, messages: [] }, 'messages: at least one is needed'],
  [
    { messages: [{ role: 'user', content: { type: 'tool_result' } }] },
    'content of type tool_result is not taken',
  ],
])('%j is refused', async (request, why) => {
  await using sampling = await openSampling([request], [say('done')])
  await sampling.world.idle()
  expect(sampling.errors).toEqual([expect.stringContaining(why)])
})

test('a model that fails is the server’s to know, and costs nothing', async () => {
  await using sampling = await openSampling([REQUEST], [refuse('rejected'), say('done')])
  await sampling.world.idle()
  expect(sampling.errors).toEqual(['The provider says rejected.'])
  expect((await used(sampling.world)).day).toEqual({ tokens: 30, cost_micros: 0 })
})

test('a provider that is busy or broken for a moment is asked again', async () => {
  const turns = [refuse('rate_limit', 3_000), refuse('server'), say('blue'), say('done')]
  await using sampling = await openSampling([REQUEST], turns)
  const { world } = sampling
  const from = await world.clock.armed(3_000)
  world.clock.advance(3_000)
  await world.clock.armed(1_500, from)
  world.clock.advance(1_500)
  await world.idle()
  expect([sampling.answers, sampling.errors]).toMatchObject([[{ content: text('blue') }], []])
  expect((await used(world)).day).toEqual({ tokens: 45, cost_micros: 0 })
})

test('a stop ends the wait for a provider that is busy', async () => {
  await using sampling = await openSampling([REQUEST], [refuse('rate_limit', 60_000)])
  const { world, errors } = sampling
  await world.clock.armed(60_000)
  await world.router.stop({ conversation: 'homelab' }, 'alex')
  await world.idle()
  expect(errors).toEqual(['Stopped by alex'])
})

test('one call has the model write eight times at most', async () => {
  const turns = Array.from({ length: 8 }, () => say('blue'))
  await using sampling = await openSampling(Array(9).fill(REQUEST), [...turns, say('done')])
  await sampling.world.idle()
  expect(sampling.answers).toHaveLength(8)
  expect(sampling.errors).toEqual(['One call may have the model write 8 times at most'])
})

test('promise 9: no budget is exceeded for a server', async () => {
  const sampling = askingTool('sampling/createMessage', REQUEST, REQUEST)
  await using world = await openWorld({
    tools: [sampling.tool],
    agents: [{ limits: { steps: 30, minutes: 10, tokens: 12_000 } }],
  })
  world.model.script(async (...asked) => {
    return { ...(await call([['setup']])(...asked)), usage: { input: 11_900, output: 60, cachedInput: 0 } }
  })
  await world.start()
  await world.post('go')
  await world.idle()
  const refused = 'The budget of the agent homelab has no room for it (limits.tokens)'
  expect(sampling.errors).toEqual([refused, refused])
  expect(world.model.requests.all).toHaveLength(1)
  expect((await used(world)).day).toEqual({ tokens: 11_960, cost_micros: 0 })
})

test('promise 9: what a kill cuts is charged before it is made', async () => {
  const held = hold(say('never heard'))
  await using sampling = await openSampling([REQUEST], [held.turn, say('done')], { model: { price: PRICE } })
  const { world } = sampling
  await held.begun
  const input = estimateOf(world, 1)
  world.kill()
  await world.start()
  await world.idle()
  expect((await used(world)).day).toEqual({
    tokens: 15 + input + 50 + 15,
    cost_micros: 20 + input + 100 + 20,
  })
})

test('promise 9: an approved call has it written too, under the same limits', async () => {
  const long = { messages: [{ role: 'user', content: text('word '.repeat(4_000)) }], maxTokens: 50 }
  const sampling = askingTool('sampling/createMessage', long, long)
  await using world = await openWorld({
    tools: [sampling.tool],
    rules: { approve: ['setup'] },
    agents: [{ limits: { steps: 30, minutes: 10, tokens: 20_000 } }],
  })
  const greedy: Turn = async (...asked) => {
    return { ...(await say('blue')(...asked)), usage: { input: 19_900, output: 50, cachedInput: 0 } }
  }
  world.model.script(call([['setup']]), say('asked'), greedy, say('set up'))
  await world.start()
  await world.post('go')
  await world.idle()
  const { id } = await onlyApproval(world)
  await world.approvals.decide({ id, decision: 'approve', ...OWNER })
  await untilSaid(world, 'set up')
  expect(sampling.answers).toMatchObject([{ content: text('blue') }])
  expect(sampling.errors).toEqual(['The budget of the agent homelab has no room for it (limits.tokens)'])
  expect((await used(world)).cycle).toMatchObject({ steps: 2, input_tokens: 19_920, output_tokens: 60 })
  expect((await used(world)).day?.tokens).toBe(19_980 + 15)
})

test('a stop ends what the model writes, which is paid', async () => {
  const held = hold(say('never heard'))
  await using sampling = await openSampling([REQUEST], [held.turn])
  const { world, errors } = sampling
  await held.begun
  await world.router.stop({ conversation: 'homelab' }, 'alex')
  await world.idle()
  expect(errors).toEqual(['Stopped by alex'])
  expect((await used(world)).day?.tokens).toBe(15 + estimateOf(world, 1))
})

test('a server whose entry does not allow it is told so, and nothing is asked or paid', async () => {
  const { tool, answers, errors } = askingTool('sampling/createMessage', REQUEST)
  await using world = await openWorld({ tools: [{ ...tool, samples: false }] })
  world.model.script(call([['setup']]), say('done'))
  await world.start()
  await world.post('go')
  await world.idle()
  expect([answers, errors]).toEqual([[], [expect.stringContaining('sampling: true')]])
  expect(world.model.requests.all).toHaveLength(2)
})
