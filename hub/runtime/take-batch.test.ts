import { expect, test } from 'vitest'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, say } from '../../tests/support/scripted-model.ts'

const lastOf = (world: World, request: number) =>
  world.model.requests.all[request]?.messages.at(-1)?.text ?? ''

/** Returns a log of `length` characters, with a question at its end. */
const log = (length: number) =>
  `${'2026-11-22 10:00:01 ERROR cannot reach the database on port 5432\n'.repeat(length / 60).slice(0, length)}\nwhat is wrong here?`

test('a pasted log reaches the model whole, with the question at its end', async () => {
  await using world = await openWorld({ model: { context: 65_536 } })
  world.model.script(say('the database'))
  await world.start()
  await world.post(log(40_000))
  await world.idle()
  const seen = lastOf(world, 0)
  expect(seen.replaceAll('> ', '').length).toBeGreaterThan(40_000)
  expect(seen.endsWith('what is wrong here?')).toBe(true)
  expect(world.seen.messages.all.map(({ kind }) => kind)).toEqual(['user', 'agent'])
})

test('of a log that no window holds the model sees head and tail, can read the middle, and its author is told', async () => {
  await using world = await openWorld({ model: { context: 16_384 } })
  await world.start()
  const text = `${log(60_000).slice(0, 30_000)}NEEDLE${log(60_000).slice(30_000)}`
  const item = () => /read_messages (\{"item":\d+),/.exec(lastOf(world, 0))?.[1]
  world.model.script(
    () => ({
      text: '',
      calls: [{ id: 'c1', name: 'read_messages', arguments: `${item()},"offset":28000}` }],
      usage: { input: 10, output: 5, cachedInput: 0 },
      truncated: false,
    }),
    say('found it'),
  )
  const posted = await world.post(text)
  await world.idle()
  expect(lastOf(world, 0).endsWith('what is wrong here?')).toBe(true)
  expect(lastOf(world, 0)).not.toContain('NEEDLE')
  expect(lastOf(world, 1)).toMatch(/^> .*NEEDLE/m)
  const notice = world.seen.messages.all.find(({ kind }) => kind === 'notice')
  expect(notice).toMatchObject({ conversation: 'homelab', inReplyTo: [posted.id] })
  expect(notice?.text).toMatch(/^This message is too long to be read at once \(60,0\d\d characters\)/)
})

test('a question is read before forty webhooks, and none of them counts as handled that was not seen', async () => {
  await using world = await openWorld({
    agents: [{ events: ['webhook.x'] }],
    model: { context: 16_384 },
  })
  await world.start()
  world.semaphore.resize(0)
  for (let id = 0; id < 40; id++) {
    const payload = { id: `hook-${id}-`, body: 'word '.repeat(600) }
    await world.router.postEvent({
      source: 'hook',
      externalId: String(id),
      type: 'webhook.x',
      payload,
      at: 0,
    })
  }
  await world.post('is all well?')
  world.model.script(say('yes'), ...Array.from({ length: 40 }, () => say('')))
  world.semaphore.resize(8)
  await world.idle()
  expect(lastOf(world, 0)).toContain('> is all well?')
  const seen = world.model.requests.all.map((_, request) => lastOf(world, request)).join('\n')
  for (let id = 0; id < 40; id++) expect(seen).toContain(`hook-${id}-`)
  expect(world.model.requests.all.length).toBeGreaterThan(5)
  expect(
    await world.store.db.selectFrom('inbox').select('seq').where('cycle_id', 'is', null).execute(),
  ).toEqual([])
})

test('what does not fit beside the results of a step waits for the next cycle', async () => {
  await using world = await openWorld({
    model: { context: 16_384 },
    tools: [
      {
        name: 'look',
        async run() {
          await world.post(`more ${'word '.repeat(9_000)}`)
          return { text: 'ok', isError: false }
        },
      },
    ],
  })
  await world.start()
  world.model.script(call([['look']]), say('first'), say('second'))
  await world.post('look')
  await world.idle()
  expect(lastOf(world, 1)).not.toContain('MID-CYCLE')
  expect(lastOf(world, 2)).toMatch(/^\[INBOX - 1 event\]/)
  expect(world.seen.messages.all.filter(({ kind }) => kind === 'agent').map(({ text }) => text)).toEqual([
    'first',
    'second',
  ])
})

test('people of more conversations than a cycle can answer wait for the next one', async () => {
  const conversations = Array.from({ length: 20 }, (_, index) => `homelab/c${index}`)
  await using world = await openWorld({ agents: [{ conversations: ['homelab', ...conversations] }] })
  await world.start()
  world.semaphore.resize(0)
  for (const conversation of conversations) await world.post(`from ${conversation}`, conversation)
  world.model.script(...conversations.map(() => say('here you are')))
  world.semaphore.resize(8)
  await world.idle()
  const answered = world.seen.messages.all.filter(({ kind }) => kind === 'agent')
  expect(answered.map(({ conversation }) => conversation).sort()).toEqual([...conversations].sort())
  expect(world.seen.ended.all).toHaveLength(3)
})
