import { expect, test } from 'vitest'
import { openWorld, type World } from '../../../tests/support/runtime-world.ts'
import { call, say, type Turn } from '../../../tests/support/scripted-model.ts'
import type { ModelRequest } from '../../core/model.ts'
import { createTokenCounter, tokensOfPreamble } from '../tokens.ts'
import { estimateInput } from './prices.ts'

const base = { steps: 30, minutes: 10 }
const LARGE = { context: 1_000_000, maxOutput: 1_024 }

const estimateOf = (request: ModelRequest) => estimateInput(createTokenCounter(), 'scripted', request)
const told = (world: World) => world.seen.messages.all.filter(({ kind }) => kind === 'notice')
const sessionsOf = ({ store }: World) => store.db.selectFrom('sessions').selectAll().execute()

/** Adds to a turn the usage that the provider would count. */
const counted =
  (turn: Turn): Turn =>
  async (request, options) => ({
    ...(await turn(request, options)),
    usage: { input: estimateOf(request), output: 5, cachedInput: 0 },
  })

async function ask(world: World, text: string, turn = say('noted')): Promise<string | undefined> {
  world.model.script(counted(turn))
  await world.post(text)
  await world.idle()
  return world.seen.messages.all.at(-1)?.text
}

const open = (limits: { tokens?: number; tokensPerDay?: number }) =>
  openWorld({ model: LARGE, agents: [{ limits: { ...base, ...limits } }] })

/** Answers the newest question by its number, and writes no summaries. */
const answer: Turn = counted((request, options) => {
  const number = /question (\d+)/.exec(request.messages.at(-1)?.text ?? '')?.[1]
  return (request.tools.length === 0 ? say('no summary') : say(`answer ${number}`))(request, options)
})

async function question(world: World, number: number, words: number): Promise<void> {
  world.model.script(...Array.from({ length: 5 - world.model.left }, () => answer))
  await world.post(`question ${number} ${'word '.repeat(words)}`)
  await world.idle()
  const said = world.seen.messages.all.findLast(({ kind }) => kind === 'agent')
  expect(said?.text).toBe(`answer ${number}`)
}

test('a thread with a large context is compacted by its budget, and never stops for good', async () => {
  await using world = await open({ tokens: 60_000 })
  await world.start()
  for (let round = 0; round < 30; round++) await question(world, round, 2_500)
  expect(told(world)).toEqual([])
  expect((await sessionsOf(world)).length).toBeGreaterThan(1)
  for (const request of world.model.requests.all) expect(estimateOf(request)).toBeLessThanOrEqual(20_000)
})

test('a budget that was lowered below the window compacts before it refuses', async () => {
  await using world = await open({ tokens: 900_000 })
  await world.start()
  for (let round = 0; round < 5; round++) await ask(world, `question ${round} ${'word '.repeat(10_000)}`)
  const agent = world.agents.get('homelab')
  if (agent) agent.limits.tokens = 40_000
  await question(world, 6, 1)
  expect(told(world)).toEqual([])
  const last = world.model.requests.all.at(-1)
  expect(last && estimateOf(last)).toBeLessThanOrEqual(40_000 / 3)
})

test('a day that is shorter than the window makes the window shorter instead of refusing every day', async () => {
  await using world = await open({ tokens: 900_000 })
  await world.start()
  for (let round = 0; round < 5; round++) await ask(world, `question ${round} ${'word '.repeat(10_000)}`)
  const agent = world.agents.get('homelab')
  if (agent) agent.limits.tokensPerDay = 30_000
  world.clock.advance(86_400_000)
  expect(await ask(world, 'good morning', say('hello'))).toBe('hello')
  expect(told(world)).toEqual([])
})

test('a cycle whose budget nearly ends makes its window shorter, answers, and only then stops', async () => {
  const dump = { name: 'dump', run: () => ({ text: 'word '.repeat(9_000), isError: false }) }
  await using world = await openWorld({
    model: LARGE,
    agents: [{ limits: { ...base, tokens: 60_000 } }],
    tools: [dump],
  })
  await world.start()
  world.model.script(...[1, 2, 3, 4].map(n => counted(call([['dump', { n }]]))), counted(say('read it all')))
  await world.post('read everything')
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('read it all')
  const [cycle] = await world.store.db.selectFrom('cycles').selectAll().execute()
  expect((cycle?.input_tokens ?? 0) + (cycle?.output_tokens ?? 0)).toBeLessThanOrEqual(60_000)
})

test('a day that not even prompt and tools fit says what to set', async () => {
  await using world = await open({ tokensPerDay: 1_000 })
  await world.start()
  await world.post('hi')
  await world.idle()
  expect(told(world)).toMatchObject([
    {
      text: expect.stringMatching(
        /raise limits\.tokensPerDay in agents\/homelab\.md to at least [\d,]+ tokens\.$/,
      ),
    },
  ])
})

test('limits.tokens below four times prompt and tools is refused with the figure, and the agent answers', async () => {
  await using world = await open({ tokens: 1_000 })
  await world.start()
  expect(await ask(world, 'hi', say('hello'))).toBe('hello')
  const [request] = world.model.requests.all
  const agent = world.agents.get('homelab')
  if (!request || !agent) throw new Error('Nothing was asked')
  const preamble = tokensOfPreamble(request)
  const show = (tokens: number) => tokens.toLocaleString('en')
  const counter = world.runtime.problemOf(agent)
  expect(counter).toMatch(
    /^agents\/homelab\.md: limits\.tokens 1,000 is refused: prompt and tools take [\d,]+ tokens/,
  )
  expect(counter).toContain(`at least ${show(4 * preamble)}`)
  agent.limits.tokens = 4 * preamble
  expect(world.runtime.problemOf(agent)).toBeUndefined()
  agent.limits.tokens = undefined
  expect(world.runtime.problemOf(agent)).toBeUndefined()
})
