import { expect, test } from 'vitest'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { call, say } from '../../tests/support/scripted-model.ts'
import { createSchedule } from '../store/schedules.ts'

const talk = { conversations: ['homelab', 'phone'] }

/** Returns what people read, without the tool activity. */
const said = (world: Awaited<ReturnType<typeof openWorld>>) =>
  world.seen.messages.all
    .filter(({ kind }) => kind !== 'user' && kind !== 'tool')
    .map(({ conversation, kind, text }) => [conversation, kind, text])

test('the final text goes to the conversation of the newest user message; the others are asked about', async () => {
  await using world = await openWorld({ agents: [talk] })
  await world.start()
  world.semaphore.resize(0)
  const ids = [await world.post('from the phone', 'phone'), await world.post('from the desk', 'homelab')]
  world.model.script(say('to the desk'), say('to the phone'))
  world.semaphore.resize(8)
  await world.idle()
  expect(said(world)).toEqual([
    ['homelab', 'agent', 'to the desk'],
    ['phone', 'agent', 'to the phone'],
  ])
  const question = world.model.requests.all[1]?.messages.at(-1)
  expect(question?.role === 'user' && question.text).toMatch(
    /^\[UNANSWERED - phone\]\n[\s\S]*from the phone$/,
  )
  for (const answer of world.seen.messages.all.slice(-2)) {
    expect(answer.inReplyTo).toEqual(ids.map(({ id }) => id))
  }
})

test('one that answers silence twice is not asked again, its conversation is told, and the cycle ends', async () => {
  await using world = await openWorld({ agents: [talk] })
  await world.start()
  world.semaphore.resize(0)
  await world.post('from the phone', 'phone')
  await world.post('from the desk', 'homelab')
  world.model.script(say('to the desk'), say(''), say(''))
  world.semaphore.resize(8)
  await world.idle()
  expect(said(world)).toEqual([
    ['homelab', 'agent', 'to the desk'],
    ['phone', 'notice', expect.stringContaining('empty reply')],
  ])
  expect([world.model.requests.all.length, world.seen.ended.all.length]).toEqual([3, 1])
})

test('a conversation that send_message answered is not asked about; its message says what it answers', async () => {
  await using world = await openWorld({ agents: [talk] })
  await world.start()
  world.semaphore.resize(0)
  const phone = await world.post('from the phone', 'phone')
  const desk = await world.post('from the desk', 'homelab')
  world.model.script(call([['send_message', { to: 'phone', text: 'hi phone' }]]), say('hi desk'))
  world.semaphore.resize(8)
  await world.idle()
  expect(said(world)).toEqual([
    ['phone', 'agent', 'hi phone'],
    ['homelab', 'agent', 'hi desk'],
  ])
  const first = world.seen.messages.all.find(({ text }) => text === 'hi phone')
  expect(first?.inReplyTo).toEqual([phone.id, desk.id])
})

test('a message from elsewhere mid-cycle does not move the reply, and is asked about', async () => {
  await using world = await openWorld({
    agents: [talk],
    tools: [
      {
        name: 'look',
        async run() {
          await world.post('me too', 'phone')
          return { text: 'ok', isError: false }
        },
      },
    ],
  })
  world.model.script(call([['look']]), say('to the desk'), say('to the phone'))
  await world.start()
  await world.post('from the desk')
  await world.idle()
  expect(said(world)).toEqual([
    ['homelab', 'agent', 'to the desk'],
    ['phone', 'agent', 'to the phone'],
  ])
})

test('schedule_wake ends the cycle; text beside it is final, and who got nothing reads the notice', async () => {
  await using world = await openWorld({ agents: [talk] })
  await world.start()
  world.semaphore.resize(0)
  await world.post('from the phone', 'phone')
  await world.post('remind me', 'homelab')
  const wake = call([['schedule_wake', { delay: '2m', reason: 'check the disks' }]], 'I will.')
  world.model.script(wake)
  world.semaphore.resize(8)
  await world.idle()
  expect(said(world).map(([conversation, kind]) => [conversation, kind])).toEqual([
    ['homelab', 'agent'],
    ['phone', 'notice'],
  ])
  expect(said(world)[0]?.[2]).toBe('I will.')
  expect(said(world)[1]?.[2]).toMatch(/23:02 \(Europe\/Berlin\): check the disks/)
  expect(world.model.requests.all).toHaveLength(1)
  expect(await world.store.db.selectFrom('cycles').select('status').execute()).toEqual([{ status: 'done' }])
})

test('an ending tool without text leaves the notice where the reply was to go', async () => {
  await using world = await openWorld()
  world.model.script(call([['complete_task', { summary: 'The disks are fine.' }]]))
  await world.start()
  await world.post('check the disks')
  await world.idle()
  expect(said(world)).toEqual([['homelab', 'notice', 'Completed: The disks are fine.']])
})

test('an ending tool ends the cycle after all calls of its step; what came meanwhile is the next batch', async () => {
  const ran: string[] = []
  const tool = (name: string) => ({
    name,
    async run() {
      if (ran.push(name) === 1) await world.post('one more thing')
      return { text: name, isError: false }
    },
  })
  await using world = await openWorld({ tools: [tool('before'), tool('after')] })
  const wake = ['schedule_wake', { delay: '1h', reason: 'later' }] as const
  world.model.script(call([['before'], wake, ['after']], 'bye'), say('hello again'))
  await world.start()
  await world.post('go')
  await world.idle()
  expect(ran).toEqual(['before', 'after'])
  expect(said(world).map(([, , text]) => text)).toEqual(['bye', 'hello again'])
  const next = world.model.requests.all[1]?.messages.at(-1)
  expect(next?.role === 'user' && next.text).toMatch(/^\[INBOX - 1 event\][\s\S]*one more thing$/)
})

test('an ending tool with wrong arguments ends nothing', async () => {
  await using world = await openWorld()
  world.model.script(call([['schedule_wake', { delay: 'soon', reason: 'x' }]]), say('so be it'))
  await world.start()
  await world.post('later')
  await world.idle()
  expect(said(world)).toEqual([['homelab', 'agent', 'so be it']])
})

test('a reminder is answered where it was asked for, even when an event came with it', async () => {
  await using world = await openWorld({ agents: [{ ...talk, events: ['cpu_high'] }] })
  world.model.script(
    call([['schedule_wake', { delay: '2m', reason: 'the disks' }]], 'ok'),
    say('look!'),
    say(''),
  )
  await world.start()
  await world.post('remind me', 'phone')
  await world.idle()
  world.semaphore.resize(0)
  world.clock.advance(120_000)
  await world.router.fireDue()
  const event = { source: 'metrics', externalId: '1', type: 'cpu_high', payload: {}, at: world.clock.now() }
  await world.router.postEvent(event)
  world.semaphore.resize(8)
  await world.idle()
  expect(said(world).at(-1)).toEqual(['phone', 'agent', 'look!'])
})

test('an event is answered nowhere, and a wake that remembers no conversation in the first', async () => {
  await using world = await openWorld({
    agents: [{ conversations: ['desk', 'phone'], events: ['cpu_high'] }],
  })
  world.model.script(say('nobody hears this'), say('good morning'))
  await world.start()
  await world.router.postEvent({ source: 'm', externalId: '1', type: 'cpu_high', payload: {}, at: 0 })
  await world.idle()
  expect(said(world)).toEqual([])
  const request = world.model.requests.all[0]?.messages[0]
  expect(request?.text).toContain('Your final text goes nowhere')
  const base = {
    agent: 'homelab',
    thread_id: 'thr_homelab',
    kind: 'once',
    cron: null,
    reason: 'report',
  } as const
  const rest = { wake_on_events_json: '[]', conversation_id: null, status: 'active', last_run: null } as const
  const row = { id: 'sch_1', timezone: 'UTC', next_run: 0, created_by: 'x', created_at: 0, ...base, ...rest }
  await world.store.write(tx => createSchedule(tx, row))
  await world.router.fireDue()
  await world.idle()
  expect(said(world)).toEqual([['desk', 'agent', 'good morning']])
})
