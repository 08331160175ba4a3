import { expect, test } from 'vitest'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { call, say } from '../../tests/support/scripted-model.ts'

const talk = { conversations: ['homelab', 'phone'] }

/** Returns what people read, without the tool activity. */
const said = (world: Awaited<ReturnType<typeof openWorld>>) =>
  world.seen.messages.all
    .filter(({ kind }) => kind !== 'user' && kind !== 'tool')
    .map(({ conversation, kind, text }) => [conversation, kind, text])

test('promise 12: a message that comes while another conversation is answered gets its answer in its own', async () => {
  await using world = await openWorld({
    agents: [talk],
    tools: [
      {
        name: 'look',
        async run() {
          await world.post('what is the door code?', 'homelab')
          return { text: 'ok', isError: false }
        },
      },
    ],
  })
  await world.start()
  world.semaphore.resize(0)
  await world.post('from the phone', 'phone')
  await world.post('from the desk', 'homelab')
  // The agent is asked about the phone, and the desk writes again during that.
  world.model.script(say('to the desk'), call([['look']]), say('to the phone'), say('the code is 4711'))
  world.semaphore.resize(8)
  await world.idle()
  expect(said(world)).toEqual([
    ['homelab', 'agent', 'to the desk'],
    ['phone', 'agent', 'to the phone'],
    ['homelab', 'agent', 'the code is 4711'],
  ])
  const answering = world.model.requests.all[2]?.messages.map(({ text }) => text).join('\n')
  expect(answering).not.toContain('door code')
})

test('promise 12: a second message of an answered conversation is asked about as any other', async () => {
  await using world = await openWorld({
    agents: [talk],
    tools: [
      {
        name: 'look',
        async run() {
          await world.post('and now?', 'phone')
          return { text: 'ok', isError: false }
        },
      },
    ],
  })
  await world.start()
  world.semaphore.resize(0)
  await world.post('from the phone', 'phone')
  await world.post('from the desk', 'homelab')
  world.model.script(
    call([['send_message', { to: 'phone', text: 'first' }]]),
    call([['look']]),
    say('to the desk'),
    say('second'),
  )
  world.semaphore.resize(8)
  await world.idle()
  expect(said(world)).toEqual([
    ['phone', 'agent', 'first'],
    ['homelab', 'agent', 'to the desk'],
    ['phone', 'agent', 'second'],
  ])
  expect(world.model.requests.all[3]?.messages.at(-1)?.text).toMatch(
    /^\[UNANSWERED - phone\][\s\S]*> and now\?$/,
  )
})

test('promise 12: a question from elsewhere that joined a cycle is not answered by its summary', async () => {
  await using world = await openWorld({
    agents: [talk],
    tools: [
      {
        name: 'look',
        async run() {
          await world.post('what is the door code?', 'phone')
          return { text: 'ok', isError: false }
        },
      },
    ],
  })
  await world.start()
  const done = call([['complete_task', { summary: 'The disks are fine.' }]])
  world.model.script(call([['look']]), done, say('the code is 4711'))
  await world.post('check the disks')
  await world.idle()
  expect(said(world)).toEqual([
    ['homelab', 'notice', 'Completed: The disks are fine.'],
    ['phone', 'agent', 'the code is 4711'],
  ])
})

test('promise 12: a question that cycles complete over twice is told of it, and is no loop', async () => {
  await using world = await openWorld({ agents: [talk] })
  await world.start()
  world.semaphore.resize(0)
  await world.post('what is the door code?', 'phone')
  await world.post('check the disks')
  const done = (summary: string) => call([['complete_task', { summary }]])
  world.model.script(done('The disks are fine.'), done('Nothing to do.'))
  world.semaphore.resize(8)
  await world.idle()
  expect(said(world)).toEqual([
    ['homelab', 'notice', 'Completed: The disks are fine.'],
    ['phone', 'notice', 'Completed: Nothing to do.'],
  ])
  expect(world.model.requests.all).toHaveLength(2)
})

test('promise 12: what a limit of the cycle left unanswered elsewhere, the next cycle answers', async () => {
  let seen = 0
  await using world = await openWorld({
    agents: [{ ...talk, limits: { steps: 8 } }],
    tools: [{ name: 'look', run: () => ({ text: `look ${++seen}`, isError: false }) }],
  })
  await world.start()
  world.semaphore.resize(0)
  await world.post('from the phone', 'phone')
  await world.post('from the desk', 'homelab')
  world.model.script(...Array.from({ length: 8 }, () => call([['look', { at: 1 }]])), say('to the phone'))
  world.semaphore.resize(8)
  await world.idle()
  expect(said(world)).toEqual([
    ['homelab', 'notice', expect.stringContaining('I stopped after 8 steps')],
    ['phone', 'agent', 'to the phone'],
  ])
})

test('promise 12: a stop during a call swallows nothing that waits elsewhere', async () => {
  const ask = Promise.withResolvers<void>()
  await using world = await openWorld({
    agents: [{ ...talk, events: ['door'] }],
    tools: [
      {
        name: 'look',
        async run() {
          await world.post('from the phone', 'phone')
          await world.router.postEvent({
            source: 's',
            externalId: '1',
            type: 'door',
            payload: { open: 1 },
            at: 0,
          })
          await world.router.stop({ conversation: 'homelab' }, 'alex')
          await world.post('after the stop', 'phone')
          ask.resolve()
          return { text: 'ok', isError: false }
        },
      },
    ],
  })
  await world.start()
  world.model.script(call([['look']]), say('to the phone'), say(''))
  await world.post('look')
  await ask.promise
  await world.idle()
  expect(said(world)).toEqual([
    ['homelab', 'notice', 'I was stopped by alex. Write again to have me go on.'],
    ['phone', 'agent', 'to the phone'],
  ])
  const seen = world.model.requests.all.map(({ messages }) => messages.at(-1)?.text)
  for (const text of ['> from the phone', '> after the stop']) expect(seen[1]).toContain(text)
  expect(seen[2]).toContain('> door {"open":1}')
})

test('promise 15: a reminder is told where it was asked for, whoever writes meanwhile', async () => {
  await using world = await openWorld({ agents: [{ conversations: ['homelab', 'phone', 'desk'] }] })
  await world.start()
  const remind = (reason: string) => call([['schedule_wake', { delay: '2s', reason }]], 'I will')
  world.model.script(remind('pizza'), remind('tea'))
  await world.post('remind me of the pizza', 'phone')
  await world.idle()
  world.clock.advance(100)
  await world.post('remind me of the tea', 'desk')
  await world.idle()
  world.semaphore.resize(0)
  world.clock.advance(3_000)
  await world.router.fireDue()
  await world.post('hello', 'homelab')
  world.model.script(say('hi'), say('pizza time'), say('tea time'))
  world.semaphore.resize(8)
  await world.idle()
  expect(said(world).slice(2)).toEqual([
    ['homelab', 'agent', 'hi'],
    ['phone', 'agent', 'pizza time'],
    ['desk', 'agent', 'tea time'],
  ])
})
