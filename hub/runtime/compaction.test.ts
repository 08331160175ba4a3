import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeAgent, openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, hold, refuse, say, type Turn } from '../../tests/support/scripted-model.ts'
import type { Model, ModelMessage, ModelRequest } from '../core/model.ts'
import { HEADINGS } from './summary.ts'
import { estimateTokens } from './tokens.ts'

const SMALL = { context: 8_192, maxOutput: 512 }
const LIMIT = 8_192 - 512 - 1_024

/** Creates a model of summaries that does the same whenever it is asked. */
function summariesBy(turn: Turn): Model & { asked: ModelRequest[] } {
  const asked: ModelRequest[] = []
  return {
    name: 'summaries',
    ...SMALL,
    asked,
    async complete(request, options) {
      asked.push(structuredClone(request))
      return turn(request, options)
    },
  }
}

const good = say(HEADINGS.map(heading => `## ${heading}\n- ${heading} as it was`).join('\n'))

const sizeOf = ({ system, tools, messages }: ModelRequest) =>
  estimateTokens(system) +
  estimateTokens(JSON.stringify(tools)) +
  messages.reduce((sum, message) => sum + sizeOfMessage(message), 0)
const sizeOfMessage = (message: ModelMessage) =>
  estimateTokens(message.role === 'assistant' ? message.text + JSON.stringify(message.calls) : message.text) +
  4

async function talk(world: World, rounds: number, words: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    world.model.script(say(`answer ${round}`))
    await world.post(`question ${round} ${'word '.repeat(words)}`)
    await world.idle()
  }
}

const sessionsOf = ({ store }: World) =>
  store.db.selectFrom('sessions').selectAll().orderBy('number').execute()
const historyOf = ({ store }: World) => store.db.selectFrom('history').selectAll().orderBy('seq').execute()

test('promise 8: a full window begins with a summary and the stored context; the history stays whole', async () => {
  const summaries = summariesBy(good)
  await using world = await openWorld({ model: SMALL, summaries })
  await world.start()
  world.model.script(call([['store_context', { key: 'wish', value: 'be quiet at night' }]]), say('stored'))
  await world.post('store my wish')
  await world.idle()
  await talk(world, 12, 400)
  const sessions = await sessionsOf(world)
  expect(sessions.length).toBeGreaterThan(1)
  expect(summaries.asked).toHaveLength(sessions.length)
  for (const [index, session] of sessions.entries()) {
    expect(session).toMatchObject({ number: index + 1, reason: 'compaction', summary_by: 'summaries' })
    expect(session.first_seq).toBe((sessions[index - 1]?.last_seq ?? 0) + 1)
    expect(session.messages).toBe(session.last_seq - session.first_seq + 1)
  }
  const last = world.model.requests.all.at(-1)
  expect(last?.messages[0]?.text).toContain('[SUMMARY]')
  expect(last?.messages[0]?.text).toContain('## Open asks')
  expect(last?.messages[0]?.text).toContain('- wish: be quiet at night')
  expect(last?.messages.filter(({ text }) => text.includes('[SUMMARY]'))).toHaveLength(1)
  expect(last?.messages.at(-1)?.text).toContain('question 11')
  for (const request of world.model.requests.all) expect(sizeOf(request)).toBeLessThanOrEqual(LIMIT)
  expect((await historyOf(world)).length).toBe(4 + 24)
})

test('a cycle has ended once its answer is stored, however long the summary for the next one takes', async () => {
  const held = hold(good)
  const summaries = summariesBy(held.turn)
  await using world = await openWorld({ model: SMALL, summaries })
  await world.start()
  world.model.script(...Array.from({ length: 12 }, (_none, round) => say(`answer ${round}`)))
  let asked = 0
  while (summaries.asked.length === 0) {
    await world.post(`question ${asked++} ${'word '.repeat(400)}`)
    await world.seen.messages.find('its answer', ({ text }) => text === `answer ${asked - 1}`)
    await world.seen.ended.find('its end', () => world.seen.ended.all.length === asked)
    await Promise.race([world.idle(), held.begun])
  }
  expect(world.runtime.busy).toBe(1)
  held.release()
  await world.idle()
  expect(world.seen.ended.all.map(({ cycle }) => cycle)).toHaveLength(asked)
  expect(await sessionsOf(world)).toHaveLength(1)
})

test('between marks the beginning of the request stays the same, byte for byte', async () => {
  await using world = await openWorld({ model: SMALL, summaries: summariesBy(good) })
  await world.start()
  await talk(world, 10, 300)
  // A compaction after the last answer would be seen by no request.
  const compactions = (await sessionsOf(world)).length
  await talk(world, 1, 1)
  const requests = world.model.requests.all
  const breaks = requests.filter(({ messages }, index) => {
    const before = requests[index - 1]?.messages ?? []
    return JSON.stringify(messages.slice(0, before.length)) !== JSON.stringify(before)
  })
  expect(breaks).toHaveLength(compactions)
})

const lies: Record<string, Turn> = {
  'says nothing': say(''),
  'says something else': say('All is well, trust me.'),
  'says too much': say(HEADINGS.map(heading => `## ${heading}\n- ${'blah '.repeat(800)}`).join('\n')),
  fails: refuse('server'),
  'forgets everything': good,
}

for (const [what, turn] of Object.entries(lies)) {
  test(`a constraint stated once survives ten compactions by a model that ${what}`, {
    timeout: 60_000,
  }, async () => {
    const summaries = summariesBy(turn)
    await using world = await openWorld({ model: SMALL, summaries })
    await world.start()
    world.model.script(say('noted'))
    await world.post('Never stop ATM-10 on weekends.')
    await world.idle()
    while ((await sessionsOf(world)).length < 10) await talk(world, 2, 500)
    world.model.script(say('sure'))
    await world.post('now?')
    await world.idle()
    const last = world.model.requests.all.at(-1)
    expect(last?.messages[0]?.text).toContain('Never stop ATM-10 on weekends.')
    expect(sizeOf(last as ModelRequest)).toBeLessThanOrEqual(LIMIT)
    const by = (await sessionsOf(world)).map(session => session.summary_by)
    expect(new Set(by)).toEqual(new Set([turn === good ? 'summaries' : 'extract']))
  })
}

test('bulky results of old steps become stubs first, and the cycle goes on with its own', async () => {
  const summaries = summariesBy(good)
  let looks = 0
  const look = {
    name: 'look',
    run: () => ({ text: `look ${++looks} ${'word '.repeat(900)}`, isError: false }),
  }
  // The context is so large that the list of tools, which grows, does not fill it.
  const model = { context: 12_288, maxOutput: 512 }
  await using world = await openWorld({ model, summaries, tools: [look] })
  await world.start()
  world.model.script(...Array.from({ length: 8 }, () => call([['look']])), say('done'))
  await world.post('look eight times')
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('done')
  for (const request of world.model.requests.all) {
    expect(sizeOf(request)).toBeLessThanOrEqual(12_288 - 512 - 1_024)
    const asked = request.messages.flatMap(m => (m.role === 'assistant' ? m.calls.map(c => c.id) : []))
    const given = request.messages.flatMap(m => (m.role === 'tool' ? [m.callId] : []))
    expect(given).toEqual(asked)
  }
  const rows = await historyOf(world)
  expect(rows.filter(({ form }) => form === 'stub').length).toBeGreaterThan(2)
  expect(rows.every(({ content_json: json }) => !json.includes('left the window'))).toBe(true)
})

test('two results of which each fills the window: the request fits all the same', async () => {
  const huge = { name: 'dump', run: () => ({ text: 'word '.repeat(12_000), isError: false }) }
  await using world = await openWorld({ model: SMALL, summaries: summariesBy(good), tools: [huge] })
  await world.start()
  world.model.script(call([['dump'], ['dump']]), say('read it'))
  await world.post(`what is in there? ${'word '.repeat(7_000)}`)
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('read it')
  for (const request of world.model.requests.all) expect(sizeOf(request)).toBeLessThanOrEqual(LIMIT)
})

test('what the provider finds too long is made shorter and asked once more', async () => {
  await using world = await openWorld({
    model: { context: 32_768, maxOutput: 512 },
    summaries: summariesBy(good),
  })
  await world.start()
  await talk(world, 3, 1_000)
  world.model.script(refuse('overflow'), say('fits now'))
  await world.post('and?')
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('fits now')
  const [long, short] = world.model.requests.all.slice(-2)
  expect(sizeOf(short as ModelRequest)).toBeLessThan(sizeOf(long as ModelRequest) * 0.8)
  expect(short?.messages.at(-1)?.text).toContain('and?')
})

test('after a long pause the cycle starts from summaries instead of the whole window', async () => {
  const summaries = summariesBy(good)
  const agents = [makeAgent({ idleReset: 30 * 60_000 })]
  await using world = await openWorld({ agents, summaries })
  await world.start()
  await talk(world, 2, 50)
  await world.clock.advance(29 * 60_000)
  await talk(world, 1, 50)
  expect(await sessionsOf(world)).toHaveLength(0)
  await world.clock.advance(31 * 60_000)
  world.model.script(say('good morning'))
  await world.post('still there?')
  await world.idle()
  const [session] = await sessionsOf(world)
  expect(session).toMatchObject({ reason: 'idle', messages: 6 })
  const last = world.model.requests.all.at(-1)
  expect(last?.messages.map(({ role }) => role)).toEqual(['user', 'user'])
  expect(last?.messages[0]?.text).toContain('You slept for long')
  expect(last?.messages[1]?.text).toContain('still there?')
})

test('a new topic starts from a summary of what was before', async () => {
  await using world = await openWorld({ summaries: summariesBy(good) })
  await world.start()
  await talk(world, 2, 50)
  world.model.script(say('the disks then'))
  await world.post('/new the disks')
  await world.idle()
  expect(await sessionsOf(world)).toMatchObject([{ reason: 'idle', messages: 4 }])
  const last = world.model.requests.all.at(-1)
  expect(last?.messages.map(({ role }) => role)).toEqual(['user', 'user'])
  expect(last?.messages[0]?.text).toContain('a new topic begins')
  expect(last?.messages[1]?.text).toContain('/new the disks')

  // Nothing else is a new topic.
  world.model.script(say('no'))
  await world.post('/newer? And /new here.')
  await world.idle()
  expect(await sessionsOf(world)).toHaveLength(1)
  const guest = world.router.postMessage({
    conversation: 'homelab',
    text: '/new x',
    author: 'gus',
    power: 'guest',
  })
  await expect(guest).rejects.toThrow(/Guests have no commands/)
})

test('a new topic that comes while the agent works waits for the next cycle', async () => {
  const wait = {
    name: 'wait',
    reads: true,
    async run() {
      await world.post('/new the disks')
      return { text: 'waited', isError: false }
    },
  }
  await using world = await openWorld({ summaries: summariesBy(good), tools: [wait] })
  await world.start()
  world.model.script(call([['wait']]), say('waited'), say('the disks then'))
  await world.post('wait a while')
  await world.idle()
  const texts = world.model.requests.all.map(({ messages }) => messages.map(({ text }) => text).join('\n'))
  expect(texts.map(text => text.includes('/new the disks'))).toEqual([false, false, true])
  expect(texts[2]).toMatch(/^\[SUMMARY\].*a new topic begins/)
})

test('a crash at any write of a compaction loses nothing and leaves no half window', async () => {
  for (let write = 1; write <= 8; write++) {
    for (const when of ['before', 'after'] as const) {
      await using world = await openWorld({ model: SMALL, summaries: summariesBy(good) })
      await world.start()
      await talk(world, 3, 900)
      world.kill()
      world.model.script(say('here'), say('here'))
      await world.start({ write, when })
      const finished = world.post(`more ${'word '.repeat(900)}`, 'homelab', 'c1').then(() => world.idle())
      await Promise.race([finished, world.died])
      await world.start()
      await world.post(`more ${'word '.repeat(900)}`, 'homelab', 'c1')
      await world.idle()
      const answers = await world.store.db
        .selectFrom('messages')
        .where('text', '=', 'here')
        .select('seq')
        .execute()
      expect(answers, `${when} ${write}`).toHaveLength(1)
      const sessions = await sessionsOf(world)
      const starts = sessions.map(({ first_seq: first }) => first)
      expect(starts).toEqual(
        [1, ...sessions.slice(0, -1).map(session => session.last_seq + 1)].slice(0, starts.length),
      )
      const row = await world.store.db.selectFrom('threads').selectAll().executeTakeFirstOrThrow()
      expect(row.window_start).toBe((sessions.at(-1)?.last_seq ?? 0) + 1)
    }
  }
})

const round = fc.record({
  words: fc.integer({ min: 1, max: 1_500 }),
  results: fc.array(fc.integer({ min: 1, max: 2_500 }), { maxLength: 3 }),
})

test('the window of any transcript has all pairs, keeps its order and fits', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 3, maxLength: 10 }), async rounds => {
      const sizes: number[] = []
      const look = { name: 'look', run: () => ({ text: 'word '.repeat(sizes.shift() ?? 1), isError: false }) }
      await using world = await openWorld({ model: SMALL, summaries: summariesBy(good), tools: [look] })
      await world.start()
      for (const [index, { words, results }] of rounds.entries()) {
        sizes.push(...results)
        if (results.length > 0) world.model.script(call(results.map(() => ['look'] as const)))
        world.model.script(say(`answer ${index}`))
        await world.post(`question ${index} ${'word '.repeat(words)}`)
        await world.idle()
      }
      expect(world.model.left).toBe(0)
      for (const request of world.model.requests.all) {
        expect(sizeOf(request)).toBeLessThanOrEqual(LIMIT)
        const asked = request.messages.flatMap(m => (m.role === 'assistant' ? m.calls.map(c => c.id) : []))
        const given = request.messages.flatMap(m => (m.role === 'tool' ? [m.callId] : []))
        expect(given).toEqual(asked)
        const numbers = request.messages
          .flatMap(m => /question (\d+) word/.exec(m.text)?.[1] ?? [])
          .map(Number)
        expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
      }
    }),
    { numRuns: 12 },
  )
})
