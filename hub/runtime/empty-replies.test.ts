import { expect, test } from 'vitest'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, hold, say, type Turn } from '../../tests/support/scripted-model.ts'

const thoughts: Turn = () => ({
  text: '',
  calls: [],
  truncated: false,
  thinking: { by: 'scripted', text: 'Let me see' },
})
const cut: Turn = () => ({ text: '', calls: [], truncated: true })

const said = (world: World) =>
  world.seen.messages.all.filter(({ kind }) => kind !== 'user').map(({ kind, text }) => [kind, text])
const historyOf = async ({ store }: World) =>
  (await store.db.selectFrom('history').select('content_json').orderBy('seq').execute()).map(
    row => JSON.parse(row.content_json) as { role: string; text: string },
  )

test.each([
  ['thoughts alone', thoughts],
  ['nothing', say('')],
  ['whitespace', say(' \n\t ')],
  ['characters that nobody sees', say('\u200b\ufeff \u2060\u00ad\u3164\u2800\n')],
  ['thoughts up to the longest reply', cut],
])('who waits gets an answer although the model first says nothing: %s', async (_what, empty) => {
  await using world = await openWorld()
  world.model.script(empty, say('here I am'))
  await world.start()
  await world.post('hello?')
  await world.idle()
  expect(said(world)).toEqual([['agent', 'here I am']])
  expect((await historyOf(world)).map(({ role }) => role)).toEqual(['user', 'assistant'])
  const [first, second] = world.model.requests.all
  expect(second?.messages.slice(0, -1)).toEqual(first?.messages)
  expect(second?.messages.at(-1)?.text).toContain('[EMPTY REPLY]')
})

test.each([
  [say(''), 'The model twice gave an empty reply. Write again, perhaps in other words.'],
  [cut, 'The model twice used up its longest reply (1024 tokens) before its first word.'],
] as const)(
  'an empty reply twice: who waits is told, and the history holds nothing empty',
  async (empty, text) => {
    await using world = await openWorld()
    world.model.script(empty, empty, say('now'))
    await world.start()
    const asked = await world.post('hello?')
    await world.idle()
    expect(world.seen.messages.all.at(-1)).toMatchObject({
      kind: 'notice',
      text: expect.stringContaining(text),
      inReplyTo: [asked.id],
      data: { emptyReply: true },
    })
    expect((await historyOf(world)).map(({ role }) => role)).toEqual(['user'])
    expect(world.seen.ended.all).toHaveLength(1)
    await world.post('and now?')
    await world.idle()
    expect(said(world).at(-1)).toEqual(['agent', 'now'])
  },
)

test('silence is fine where nobody asked: nothing is asked again, told or stored', async () => {
  await using world = await openWorld({ agents: [{ events: ['beep'] }] })
  world.model.script(say(''))
  await world.start()
  await world.router.postEvent({ source: 's', externalId: '1', type: 'beep', payload: {}, at: 0 })
  await world.idle()
  expect(said(world)).toEqual([])
  expect((await historyOf(world)).map(({ role }) => role)).toEqual(['user'])
})

test('who was answered with send_message waits no more', async () => {
  await using world = await openWorld()
  world.model.script(call([['send_message', { to: 'homelab', text: 'done' }]]), say(''))
  await world.start()
  await world.post('do it')
  await world.idle()
  expect(said(world).filter(([kind]) => kind !== 'tool')).toEqual([['agent', 'done']])
})

test('of three conversations the one that got nothing is told, the others are answered', async () => {
  await using world = await openWorld({ agents: [{ conversations: ['homelab', 'phone', 'desk'] }] })
  await world.start()
  world.semaphore.resize(0)
  for (const conversation of ['desk', 'phone', 'homelab'])
    await world.post(`from ${conversation}`, conversation)
  world.model.script(say('to homelab'), say(''), say(''), say('to phone'))
  world.semaphore.resize(8)
  await world.idle()
  const told = world.seen.messages.all.filter(({ kind }) => kind !== 'user')
  expect(told.map(({ conversation, kind }) => [conversation, kind])).toEqual([
    ['homelab', 'agent'],
    ['phone', 'agent'],
    ['desk', 'notice'],
  ])
})

test('a crash between an empty reply and the second question loses nothing', async () => {
  await using world = await openWorld()
  const held = hold(say('never heard'))
  world.model.script(say(''), held.turn, say(''), say('here I am'))
  await world.start()
  await world.post('hello?')
  await held.begun
  world.kill()
  await world.start()
  await world.idle()
  expect(said(world).filter(([kind]) => kind === 'agent')).toEqual([['agent', 'here I am']])
})
