import { expect, test } from 'vitest'
import type { ToolCallStatus } from '../../../schemas/chat.ts'
import { openWorld, type World } from '../../../tests/support/runtime-world.ts'
import { call, say } from '../../../tests/support/scripted-model.ts'
import { countRepeats, decideStreak } from './loops.ts'

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
  ['as many as allowed', [row(1, 'a'), row(1, 'a'), open(2, 'a')], 'fine', 0],
  ['one too many', [row(1, 'a'), row(1, 'a'), row(1, 'a'), open(2, 'a')], 'refuse', 1],
  [
    'several too many in one step',
    [row(1, 'a'), open(2, 'a'), open(2, 'a'), open(2, 'a'), open(2, 'a')],
    'refuse',
    2,
  ],
  [
    'after it was told',
    [row(1, 'a'), row(1, 'a'), row(1, 'a'), row(2, 'a', 'skipped'), open(3, 'a')],
    'stop',
    0,
  ],
  [
    'told, then something else',
    [row(1, 'a'), row(1, 'a'), row(1, 'a'), row(2, 'a', 'skipped'), row(3, 'b'), open(4, 'a')],
    'fine',
    0,
  ],
  [
    'something else in between',
    [row(1, 'a'), row(1, 'a'), row(1, 'b'), row(1, 'a'), open(2, 'a')],
    'fine',
    0,
  ],
  [
    'told in part before a crash',
    [row(1, 'a'), row(1, 'a'), row(1, 'a'), row(2, 'a', 'skipped'), open(2, 'a')],
    'refuse',
    1,
  ],
] as const)('a streak of one tool: %s', (_name, calls, kind, refused) => {
  const decided = decideStreak(calls, 3)
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

test('promise 9: one tool too often in a row gets an error, and the next time the cycle stops', async () => {
  await using world = await openWorld({
    agents: [{ limits: { ...base, sameTool: 2 } }],
    tools: [count, look],
  })
  counter = 0
  world.model.script(...[1, 2, 3, 4].map(() => call([['count']])), say('never asked'))
  await world.start()
  await world.post('go')
  await world.idle()
  expect(counter).toBe(2)
  expect(results(world, 3).at(-1)).toBe(
    'Not run: count was called 2 times in a row, which is the limit. Do something else first, or end with what you know; calling count again now ends this cycle.',
  )
  expect(told(world)).toMatchObject([
    {
      text: 'I stopped: I called count 4 times in a row, and 2 is the limit. Raise limits.sameTool in agents/homelab.md, or tell me to go on.',
      data: { limit: 'limits.sameTool', value: 2, used: 4 },
    },
  ])
  expect(world.model.left).toBe(1)
  const ledger = await world.store.db.selectFrom('tool_calls').select('status').orderBy('step').execute()
  expect(ledger.map(({ status }) => status)).toEqual(['ok', 'ok', 'skipped', 'skipped'])
  await world.post('and?')
  await world.idle()
  expect(results(world, 4)).toHaveLength(4)
})

test('who does something else after the error goes on', async () => {
  await using world = await openWorld({
    agents: [{ limits: { ...base, sameTool: 2 } }],
    tools: [count, look],
  })
  world.model.script(
    call([['count'], ['count'], ['count']]),
    call([['look'], ['count']]),
    call([['count']]),
    say('done'),
  )
  await world.start()
  await world.post('go')
  await world.idle()
  expect(told(world)).toEqual([])
  expect(world.seen.messages.all.at(-1)?.text).toBe('done')
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
    await using world = await openWorld({ agents: [{ limits: { ...base, sameTool: 3 } }], tools: [count] })
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
    expect(notices).toEqual([{ data_json: expect.stringContaining('limits.sameTool') }])
  },
)
