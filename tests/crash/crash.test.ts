import { expect, test, vi } from 'vitest'
import type { ChatMessage } from '../../schemas/chat.ts'
import type { ChatClient } from '../support/chat-client.ts'
import { type CrashHub, openCrashHub } from '../support/crash-hub.ts'

// Each test starts the hub two to four times.
vi.setConfig({ testTimeout: 120_000 })

/** Waits until everything is answered, then checks the promises on conversations and history. */
async function checkAll(hub: CrashHub, chat: ChatClient, sent: ChatMessage[]): Promise<string[]> {
  for (const conversation of new Set(sent.map(message => message.conversation))) {
    await chat.subscribe(conversation, 0)
  }
  for (const message of sent) await chat.answerTo(message)
  await hub.kill()
  for (const messages of Map.groupBy(chat.messages, message => message.conversation).values()) {
    expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_message, index) => index + 1))
  }
  const answers = chat.messages.filter(({ kind }) => kind === 'agent')
  const history = hub.rows<{ content_json: string }>('select content_json from history')
  const taken = history.flatMap(row => {
    const { items = [] } = JSON.parse(row.content_json) as { items?: { kind: string; text: string }[] }
    return items.filter(({ kind }) => kind === 'message').map(({ text }) => text)
  })
  expect(taken.toSorted()).toEqual(sent.map(({ text }) => text).toSorted())
  for (const { id, text, conversation } of sent) {
    const mine = answers.filter(one => one.conversation === conversation && one.inReplyTo?.includes(id))
    expect([text, mine.length]).toEqual([text, 1])
  }
  expect(hub.rows("select id from cycles where status != 'done'")).toEqual([])
  return answers.map(({ text }) => text)
}

test('promises 1, 2: killed as soon as a message is accepted, it is answered once', async () => {
  await using hub = await openCrashHub()
  const first = await hub.start()
  const sent = await first.say('homelab', 'please answer a1')
  await hub.kill()
  const chat = await hub.start()
  expect(await checkAll(hub, chat, [sent])).toEqual(['Answered: a1'])
})

test('promise 1: killed before a message was accepted, the client sends it again and it is there once', async () => {
  await using hub = await openCrashHub()
  const first = await hub.start()
  first.send({ type: 'message', conversation: 'homelab', text: 'please answer b1', clientId: 'client-1' })
  await hub.kill()
  const chat = await hub.start()
  const sent = await chat.say('homelab', 'please answer b1', 'client-1')
  expect(await chat.say('homelab', 'please answer b1', 'client-1')).toEqual(sent)
  expect(await checkAll(hub, chat, [sent])).toEqual(['Answered: b1'])
})

test("promise 4: killed while the model's reply streams, the step is made again", async () => {
  await using hub = await openCrashHub()
  hub.provider.state.hold = true
  const first = await hub.start()
  await first.subscribe('homelab')
  const sent = await first.say('homelab', 'please answer c1')
  await first.next('delta', ({ text }) => text.startsWith('Answered'))
  await hub.kill()
  hub.provider.state.hold = false
  const chat = await hub.start()
  expect(await checkAll(hub, chat, [sent])).toEqual(['Answered: c1'])
  expect(hub.provider.streaming.all).toHaveLength(2)
})

test('promise 3: killed during a call that changes something, it is not repeated and the model is told', async () => {
  await using hub = await openCrashHub()
  hub.holdCalls(true)
  const first = await hub.start()
  const sent = await first.say('homelab', 'please change d1')
  await hub.called(1)
  await hub.kill()
  hub.holdCalls(false)
  const chat = await hub.start()
  expect(await checkAll(hub, chat, [sent])).toEqual([expect.stringMatching(/^Done: Outcome unknown: /)])
  expect(hub.calls()).toHaveLength(1)
  expect(hub.rows('select status from tool_calls')).toEqual([{ status: 'unknown' }])
})

test('promise 3: killed during a call that only looks, it is made again under the same key', async () => {
  await using hub = await openCrashHub()
  hub.holdCalls(true)
  const first = await hub.start()
  const sent = await first.say('homelab', 'please look e1')
  await hub.called(1)
  await hub.kill()
  hub.holdCalls(false)
  const chat = await hub.start()
  expect(await checkAll(hub, chat, [sent])).toEqual(['Done: look did e1'])
  const [once, again, ...more] = hub.calls()
  expect(once).toMatch(/^look e1 call_/)
  expect([again, more]).toEqual([once, []])
})

test('promise 3: asked again about a change of unknown outcome, the model verifies and needs no approval', async () => {
  await using hub = await openCrashHub()
  hub.provider.state.hold = true
  const first = await hub.start()
  await first.subscribe('homelab')
  const sent = [await first.say('homelab', 'please answer i1')]
  await first.next('delta')
  // Both messages wait for the next batch: its reply goes to the newer one, and the hub then asks the model
  // to answer the other conversation.
  sent.push(await first.say('homelab/x', 'please change i2'), await first.say('homelab', 'please answer i3'))
  await hub.kill()
  hub.provider.state.hold = false
  hub.holdCalls(true)
  await hub.start()
  await hub.called(1)
  await hub.kill()
  hub.holdCalls(false)
  const chat = await hub.start()
  await checkAll(hub, chat, sent)
  expect(hub.calls().map(line => line.split(' ').slice(0, 2).join(' '))).toEqual(['change i2', 'look i2'])
  expect(hub.rows('select status from approvals')).toEqual([])
})

test('promise 3: killed between the plan and the call, the call is made once', async () => {
  await using hub = await openCrashHub()
  hub.holdCalls(true)
  const first = await hub.start()
  // The second call is planned while the first one runs.
  const sent = await first.say('homelab', 'please look f1\nplease change f2')
  await hub.called(1)
  await hub.kill()
  hub.holdCalls(false)
  const chat = await hub.start()
  expect(await checkAll(hub, chat, [sent])).toEqual(['Done: look did f1 | change did f2'])
  const made = hub.calls().map(line => line.split(' ').slice(0, 2).join(' '))
  expect(made).toEqual(['look f1', 'look f1', 'change f2'])
})

test('promise 2: killed once the answer is out, nothing is answered or done twice', async () => {
  await using hub = await openCrashHub()
  const first = await hub.start()
  await first.subscribe('homelab')
  const before = await first.say('homelab', 'please change g1')
  await first.answerTo(before)
  await hub.kill()
  const chat = await hub.start()
  const after = await chat.say('homelab', 'please answer g2')
  expect(await checkAll(hub, chat, [before, after])).toEqual(['Done: change did g1', 'Answered: g2'])
  expect(hub.calls()).toHaveLength(1)
})

test('promises 1 to 4: killed again and again among many messages, each is answered once', async () => {
  await using hub = await openCrashHub()
  const places = ['homelab', 'homelab/x', 'homelab/y']
  const wanted = Array.from({ length: 12 }, (_, index) => ({
    type: 'message' as const,
    conversation: places[index % places.length] ?? 'homelab',
    text: `please ${['answer', 'look', 'change'][Math.floor(index / 4)]} h${index}`,
    clientId: `client-${index}`,
  }))
  const moments: ((chat: ChatClient) => Promise<unknown>)[] = [
    chat => chat.next('accepted'),
    chat => chat.next('tool', ({ call }) => call.status === 'started'),
    chat => chat.next('message', ({ message }) => message.kind === 'agent'),
  ]
  for (const moment of moments) {
    const chat = await hub.start()
    for (const place of places) await chat.subscribe(place, 0)
    for (const frame of wanted) chat.send(frame)
    await moment(chat)
    await hub.kill()
  }
  const chat = await hub.start()
  const sent: ChatMessage[] = []
  for (const { conversation, text, clientId } of wanted)
    sent.push(await chat.say(conversation, text, clientId))
  await checkAll(hub, chat, sent)
  const changes = hub.calls().filter(line => line.startsWith('change '))
  expect(new Set(changes).size).toBe(changes.length)
  const calls = hub.rows<{ tool: string; status: string }>('select tool, status from tool_calls')
  expect(calls.length).toBeGreaterThanOrEqual(8)
  expect(calls.filter(({ tool }) => tool === 'recorder__look').every(({ status }) => status === 'ok')).toBe(
    true,
  )
  const odd = calls.filter(({ status }) => !['ok', 'unknown'].includes(status))
  expect(odd).toEqual([])
})
