import { expect, test } from 'vitest'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { call, hold, say } from '../../tests/support/scripted-model.ts'
import type { ModelRequest } from '../core/model.ts'

const usersOf = (request: ModelRequest | undefined) =>
  (request?.messages ?? []).flatMap(message => (message.role === 'user' ? [message.text] : []))

test('a message becomes one user message that begins with [INBOX - 1 event], and its reply is a message', async () => {
  await using world = await openWorld()
  world.model.script(say('Hello, Alex.'))
  await world.start()
  const sent = await world.post('hi there')
  await world.idle()
  const users = usersOf(world.model.requests.all[0])
  expect(users).toHaveLength(1)
  expect(users[0]).toMatch(/^\[INBOX - 1 event\]\n/)
  expect(users[0]).toContain('hi there')
  expect(world.seen.messages.all.map(({ kind, text, seq, author }) => [kind, text, seq, author])).toEqual([
    ['user', 'hi there', 1, 'alex'],
    ['agent', 'Hello, Alex.', 2, 'homelab'],
  ])
  expect(world.seen.messages.all[1]?.inReplyTo).toEqual([sent.id])
  expect(world.seen.deltas.all.map(delta => delta.text).join('')).toBe('Hello, Alex.')
})

test('a thread says that it rests once it is active no longer, after the last status', async () => {
  await using world = await openWorld()
  world.model.script(say('done'))
  await world.start()
  await world.post('hi')
  const rests = await world.seen.rests.find('the thread rests', () => true)
  expect(rests).toEqual({ thread: 'thr_homelab', isActive: false })
  expect(world.seen.states.all.map(({ status }) => status)).toEqual(['active', 'sleeping'])
})

test('promise 2: what waits when a cycle begins becomes one batch, in the order of arrival', async () => {
  await using world = await openWorld()
  const first = hold(say('one'))
  world.model.script(first.turn, say('two and three'))
  await world.start()
  await world.post('first')
  await first.begun
  const later = [await world.post('second'), await world.post('third')]
  first.release()
  await world.idle()
  const users = usersOf(world.model.requests.all[1])
  expect(users).toHaveLength(2)
  expect(users[1]).toMatch(/^\[INBOX - 2 events\]\n/)
  expect(users[1]?.indexOf('second')).toBeLessThan(users[1]?.indexOf('third') ?? -1)
  const answer = world.seen.messages.all.at(-1)
  expect([answer?.text, answer?.inReplyTo]).toEqual(['two and three', later.map(message => message.id)])
  expect(world.model.requests.all).toHaveLength(2)
})

test('what comes mid-cycle goes in as an update before the next step, after the results', async () => {
  await using world = await openWorld({
    tools: [
      {
        name: 'look',
        async run() {
          await world.post('and the disks?')
          await world.post('and the fans?')
          return { text: 'cpu 5 %', isError: false }
        },
      },
    ],
  })
  world.model.script(call([['look']]), say('All fine.'))
  await world.start()
  await world.post('how is the cpu?')
  await world.idle()
  const roles = world.model.requests.all[1]?.messages.map(message => message.role)
  expect(roles).toEqual(['user', 'assistant', 'tool', 'user'])
  const update = usersOf(world.model.requests.all[1])[1]
  expect(update).toMatch(/^\[MID-CYCLE UPDATE - 2 events\]\n/)
  expect(update).toContain('and the disks?')
  expect(world.model.requests.all).toHaveLength(2)
  expect(world.seen.messages.all.at(-1)?.inReplyTo).toHaveLength(3)
})

test('text beside calls is streamed and not said; pairs are complete before the next step', async () => {
  await using world = await openWorld({
    tools: [{ name: 'look', run: () => ({ text: 'cpu 5 %', isError: false }) }],
  })
  world.model.script(call([['look'], ['look']], 'Let me see.'), say('5 %.'))
  await world.start()
  await world.post('cpu?')
  await world.idle()
  const texts = world.seen.messages.all.filter(message => message.kind === 'agent').map(({ text }) => text)
  expect(texts).toEqual(['5 %.'])
  const [, assistant, ...results] = world.model.requests.all[1]?.messages ?? []
  const asked = assistant?.role === 'assistant' ? assistant.calls.map(each => each.id) : []
  expect(asked).toHaveLength(2)
  expect(results.map(result => result.role === 'tool' && result.callId)).toEqual(asked)
})

test('ids that a provider repeats are told apart', async () => {
  await using world = await openWorld({
    tools: [{ name: 'look', run: () => ({ text: 'seen', isError: false }) }],
  })
  const same = () => ({
    text: '',
    calls: [
      { id: 'call_0', name: 'look', arguments: '{}' },
      { id: 'call_0', name: 'look', arguments: '{}' },
    ],
    truncated: false,
  })
  world.model.script(same, same, say('done'))
  await world.start()
  await world.post('twice')
  await world.idle()
  const messages = world.model.requests.all[2]?.messages ?? []
  const ids = messages.flatMap(each => (each.role === 'assistant' ? each.calls.map(one => one.id) : []))
  expect(new Set(ids).size).toBe(4)
  expect(messages.flatMap(each => (each.role === 'tool' ? [each.callId] : []))).toEqual(ids)
})

test('a reply that was cut says that', async () => {
  await using world = await openWorld()
  world.model.script(() => ({ text: 'It is', calls: [], truncated: true }))
  await world.start()
  await world.post('go on')
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toMatch(/^It is\n\n\(cut/)
})

test('wrong arguments and unknown tools become error results that the model reads', async () => {
  const ran: unknown[] = []
  await using world = await openWorld({
    tools: [{ name: 'look', run: args => ({ text: `${ran.push(args)}`, isError: false }) }],
  })
  world.model.script(
    call([
      ['look', '{"a":'],
      ['look', '[1]'],
      ['nothing', {}],
      ['look', ''],
    ]),
    say('hm'),
  )
  await world.start()
  await world.post('go')
  await world.idle()
  const results = world.model.requests.all[1]?.messages.flatMap(each => (each.role === 'tool' ? [each] : []))
  expect(results?.map(({ isError, text }) => [isError, text])).toEqual([
    [true, 'look: the arguments are not a JSON object.'],
    [true, 'look: the arguments are not a JSON object.'],
    [true, 'There is no tool nothing.'],
    [false, '1'],
  ])
  expect(ran).toEqual([{}])
})

test('promise 6: a thread that sleeps holds no timer and nothing in memory, and is not asked', async () => {
  await using world = await openWorld()
  world.model.script(say('hello'))
  await world.start()
  await world.post('hi')
  await world.idle()
  expect([world.clock.timers, world.runtime.busy, world.runtime.isActive('thr_homelab')]).toEqual([
    0,
    0,
    false,
  ])
  const writes = world.writes
  const before = await world.store.db.selectFrom('threads').selectAll().executeTakeFirstOrThrow()
  world.runtime.wake('thr_homelab')
  await world.idle()
  const after = await world.store.db.selectFrom('threads').selectAll().executeTakeFirstOrThrow()
  expect([after, world.writes - writes, world.model.requests.all.length]).toEqual([before, 1, 1])
  expect(before).toMatchObject({ status: 'sleeping', lease_owner: null })
})

test('promise 1: what is posted while a wake finds nothing is not overlooked', async () => {
  await using world = await openWorld()
  world.model.script(say('here'))
  await world.start()
  const writes = world.writes
  world.runtime.wake('thr_homelab')
  // The message is posted after the claim was asked for: both share a commit, in which the claim comes first.
  while (world.writes === writes) await Promise.resolve()
  await world.post('hi')
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('here')
})

test('promise 9: no more cycles at once than the concurrency; a busy thread gives its place back', async () => {
  const agents = ['a', 'b', 'c'].map(name => ({ name }))
  await using world = await openWorld({ agents, concurrency: 1 })
  const first = hold(say('1'))
  const order: string[] = []
  const noted = (reply: string) => (request: ModelRequest) => {
    order.push(
      usersOf(request)
        .at(-1)
        ?.match(/conversation (\w)/)?.[1] ?? '',
    )
    return { text: reply, calls: [], truncated: false }
  }
  world.model.script(first.turn, noted('2'), noted('3'), noted('4'))
  await world.start()
  await world.post('one', 'a')
  await first.begun
  await world.post('two', 'b')
  await world.post('three', 'c')
  await world.post('more', 'a')
  expect([world.runtime.busy, world.model.requests.all.length]).toEqual([3, 1])
  first.release()
  await world.idle()
  expect(order).toEqual(['b', 'c', 'a'])
})

test('a cycle that something unforeseen breaks says so, and the next message goes on', async () => {
  await using world = await openWorld()
  world.model.script(() => {
    throw new TypeError('a bug')
  }, say('back'))
  await world.start()
  await world.post('hi')
  await world.idle()
  expect(world.seen.messages.all.at(-1)).toMatchObject({ kind: 'error', author: 'homelab' })
  expect(world.seen.messages.all.at(-1)?.text).not.toContain('a bug')
  await world.post('again')
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('back')
})

test('disposing stops at the next boundary; the rest is done at the next start', async () => {
  await using world = await openWorld()
  const held = hold(say('never'))
  world.model.script(held.turn)
  await world.start()
  await world.post('hi')
  await held.begun
  await world.runtime[Symbol.asyncDispose]()
  expect(world.seen.messages.all.map(message => message.kind)).toEqual(['user'])
  world.model.script(say('here I am'))
  await world.start()
  await world.idle()
  expect(world.seen.messages.all.map(message => message.text)).toEqual(['hi', 'here I am'])
})
