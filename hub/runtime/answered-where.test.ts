import { expect, test } from 'vitest'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { call, say } from '../../tests/support/scripted-model.ts'

const talk = { conversations: ['homelab', 'phone'] }

/** What people read, without the tool activity. */
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
  // The phone is asked about, and during that the desk writes again.
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
