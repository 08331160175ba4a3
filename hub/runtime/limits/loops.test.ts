import { expect, test } from 'vitest'
import type { ToolCallStatus } from '../../../schemas/chat.ts'
import { openWorld, type World } from '../../../tests/support/runtime-world.ts'
import { call, say } from '../../../tests/support/scripted-model.ts'
import { countRepeats, decideExcess } from './loops.ts'

const base = { steps: 30, minutes: 10 }
let counter = 0
const look = { name: 'look', run: () => ({ text: 'the same', isError: false }) }
const count = { name: 'count', run: () => ({ text: `${++counter}`, isError: false }) }

const told = (world: World) => world.seen.messages.all.filter(({ kind }) => kind === 'notice')
const results = (world: World, request: number) =>
  world.model.requests.all[request]?.messages.flatMap(each => (each.role === 'tool' ? [each.text] : [])) ?? []

const row = (step: number, tool: string, status: ToolCallStatus = 'ok', result: string | null = '"r"') => ({
  id: `${step}-${tool}-${Math.random()}`,
  step,
  tool,
  arguments: '{}',
  status,
  result_json: result,
})
const open = (step: number, tool: string) => row(step, tool, 'planned', null)

test.each([
  ['as many as allowed', [row(1, 'a'), row(1, 'b'), open(2, 'a')], 'fine', 0],
  ['one too many', [row(1, 'a'), row(1, 'b'), row(1, 'c'), open(2, 'd')], 'refuse', 1],
  [
    'several too many in one step',
    [row(1, 'a'), ...['b', 'c', 'd', 'e'].map(tool => open(2, tool))],
    'refuse',
    2,
  ],
  [
    'after it was told',
    [row(1, 'a'), row(1, 'a'), row(1, 'a'), row(2, 'a', 'skipped'), open(3, 'b')],
    'stop',
    0,
  ],
  [
    'told in part before a crash',
    [row(1, 'a'), row(1, 'a'), row(1, 'a'), row(2, 'a', 'skipped'), open(2, 'a')],
    'refuse',
    1,
  ],
] as const)('calls of a cycle: %s', (_name, calls, kind, refused) => {
  const decided = decideExcess(calls, 3)
  expect([decided.kind, decided.kind === 'refuse' ? decided.ids.length : 0]).toEqual([kind, refused])
})

test('a result counts again from one when it changes, and other calls do not', () => {
  const calls = [
    row(1, 'a'),
    row(2, 'b'),
    row(3, 'a'),
    row(4, 'a', 'ok', '"other"'),
    row(5, 'a'),
    row(6, 'b'),
  ]
  expect([...countRepeats(calls).values()]).toEqual([1, 1, 2, 1, 1, 2])
})

test('promise 9: a cycle calls tools so often and no more; it may answer then, and is stopped where it calls on', async () => {
  await using world = await openWorld({
    agents: [{ limits: { ...base, calls: 2 } }],
    tools: [count, look],
  })
  counter = 0
  world.model.script(...[1, 2, 3, 4].map(() => call([['count']])), say('never asked'))
  await world.start()
  await world.post('go')
  await world.idle()
  expect(counter).toBe(2)
  expect(results(world, 3).at(-1)).toBe(
    'count was not run: this cycle may call tools 2 times, and has. Answer with what you know; another call ends this cycle.',
  )
  expect(told(world)).toMatchObject([
    {
      text: 'I stopped after 2 calls of tools, the limit of one cycle. Raise limits.calls in agents/homelab.md, or tell me to go on.',
      data: { limit: 'limits.calls', value: 2, used: 2 },
    },
  ])
  expect(world.model.left).toBe(1)
  const ledger = await world.store.db.selectFrom('tool_calls').select('status').orderBy('step').execute()
  expect(ledger.map(({ status }) => status)).toEqual(['ok', 'ok', 'skipped', 'skipped'])
  await world.post('and?')
  await world.idle()
  expect(results(world, 4)).toHaveLength(4)
})

test.each([true, false])(
  'distinct calls in one reply are no loop (reads: %s), and all of them run',
  async reads => {
    await using world = await openWorld({ tools: [{ ...count, reads }] })
    counter = 0
    const eight = Array.from({ length: 8 }, (_none, n) => ['count', { n }] as const)
    world.model.script(call(eight), call(eight), say('done'))
    await world.start()
    await world.post('go')
    await world.idle()
    expect(counter).toBe(16)
    expect(told(world)).toEqual([])
    expect(world.seen.messages.all.at(-1)?.text).toBe('done')
  },
)

test('of 200 calls in one reply run as many as a cycle may', async () => {
  await using world = await openWorld({
    agents: [{ limits: { ...base, calls: 100 } }],
    tools: [{ ...count, reads: true }],
  })
  counter = 0
  const many = Array.from({ length: 200 }, (_none, n) => ['count', { n }] as const)
  world.model.script(call(many), say('this is what I know'))
  await world.start()
  await world.post('go')
  await world.idle()
  expect(counter).toBe(100)
  expect(results(world, 1)).toHaveLength(200)
  expect(world.seen.messages.all.at(-1)?.text).toBe('this is what I know')
})

test.each([true, false])(
  'alternating equal calls in one reply are a loop after five (reads: %s)',
  async reads => {
    let ran = 0
    const run = () => {
      ran++
      return look.run()
    }
    const same = (name: string) => ({ name, reads, run })
    await using world = await openWorld({ tools: [same('look'), same('peek')] })
    const many = Array.from({ length: 200 }, (_none, n) => [n % 2 === 0 ? 'look' : 'peek'] as const)
    world.model.script(call(many), say('never asked'))
    await world.start()
    await world.post('go')
    await world.idle()
    expect(ran).toBeLessThanOrEqual(10)
    expect(told(world)).toMatchObject([
      { text: expect.stringContaining('the same call of look gave the same result 5 times') },
    ])
    expect(world.model.left).toBe(1)
  },
)

test('equal calls with other results are no loop', async () => {
  await using world = await openWorld({ tools: [{ ...count, reads: true }] })
  counter = 0
  world.model.script(call(Array.from({ length: 12 }, () => ['count'] as const)), say('rolled'))
  await world.start()
  await world.post('roll a dozen')
  await world.idle()
  expect(counter).toBe(12)
  expect(world.seen.messages.all.at(-1)?.text).toBe('rolled')
})

test('promise 9: the same call with the same result is warned of at 3 and stops the cycle at 5', async () => {
  await using world = await openWorld({ tools: [look, count] })
  world.model.script(...[1, 2, 3, 4, 5].map(() => call([['look'], ['count']])), say('never asked'))
  await world.start()
  await world.post('go')
  await world.idle()
  const seen = results(world, 4).filter(text => text.startsWith('the same'))
  expect(seen.map(text => text.includes('[Note of the hub'))).toEqual([false, false, true, true])
  expect(told(world)).toMatchObject([
    { text: expect.stringContaining('the same call of look gave the same result 5 times') },
  ])
  expect(world.model.left).toBe(1)
})

test.each([6, 8, 9, 10, 12, 14, 15, 16])(
  'promise 9: a restart after write %i does not forget how often',
  async write => {
    await using world = await openWorld({ agents: [{ limits: { ...base, calls: 3 } }], tools: [count] })
    counter = 0
    world.model.script(...Array.from({ length: 8 }, () => call([['count']])))
    await world.start({ write, when: 'after' })
    await world.post('go')
    await world.died
    await world.start()
    await world.idle()
    const rows = await world.store.db.selectFrom('tool_calls').select('status').orderBy('step').execute()
    expect(rows.map(({ status }) => status === 'skipped')).toEqual([false, false, false, true, true])
    expect(counter).toBeLessThanOrEqual(3)
    const notices = await world.store.db
      .selectFrom('messages')
      .select('data_json')
      .where('kind', '=', 'notice')
      .execute()
    expect(notices).toEqual([{ data_json: expect.stringContaining('limits.calls') }])
  },
)
