import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatMessage, HubFrame } from '../../schemas/chat.ts'
import { type ChatClient, openChat } from '../support/chat-client.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { untilNoChildren } from '../support/processes.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until, within } from '../support/until.ts'

const MIB = 1024 * 1024
let hub: TestHub
let made = 0
/** Names a conversation that no other test uses. */
const fresh = () => `homelab/test-${++made}`

beforeAll(async () => {
  hub = await startTestHub({ config: JSON.stringify({ servers: { metrics: false, odd: odd().entry } }) })
  await untilReady(hub, 'odd')
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await untilNoChildren()
})

/** Waits until this client has got this many messages of the conversation. */
async function untilMessages(chat: ChatClient, conversation: string, count: number): Promise<ChatMessage[]> {
  const ours = () => chat.messages.filter(message => message.conversation === conversation)
  await until(`${count} messages`, () => ours().length >= count)
  return ours()
}

describe('chat at /ws', () => {
  test('welcomes with the hub, its agents and its conversations', async () => {
    using chat = await openChat(hub)
    expect(chat.frames.all[0]).toMatchObject({
      type: 'welcome',
      protocol: 1,
      hub: { name: 'superbloom', version: expect.any(String) },
      agents: [{ name: 'homelab', description: 'Looks after the homelab', status: 'sleeping' }],
      conversations: expect.arrayContaining([
        { id: 'homelab', agents: ['homelab'], lastSeq: expect.any(Number) },
      ]),
    })
    expect(chat.socket.protocol).toBe('superbloom.v1')
    chat.send({ type: 'ping' })
    await chat.next('pong')
  })

  test('shows tool activity and the streamed reply, which the final message replaces', async () => {
    const conversation = fresh()
    using chat = await openChat(hub)
    await chat.subscribe(conversation)
    const said = await chat.say(conversation, '/call odd__pid {}')
    const answer = await chat.answerTo(said)
    expect(answer).toMatchObject({ kind: 'agent', author: 'homelab', seq: expect.any(Number) })
    const frames = chat.frames.all
    const tools = frames.flatMap(frame => (frame.type === 'tool' ? [frame] : []))
    expect(tools.map(({ call }) => call.status).slice(-2)).toEqual(['started', 'ok'])
    expect(new Set(tools.map(({ call }) => call.id)).size).toBe(1)
    expect(tools[0]).toMatchObject({ conversation, call: { tool: 'odd__pid' }, cycle: expect.any(String) })
    const deltas = frames.flatMap(frame => (frame.type === 'delta' ? [frame] : []))
    expect(deltas.map(({ text }) => text).join('')).toBe(answer.text)
    expect(deltas.every(delta => delta.conversation === conversation)).toBe(true)
    const last = (type: HubFrame['type']) => frames.findLastIndex(frame => frame.type === type)
    expect(last('delta')).toBeLessThan(last('message'))
    const states = frames.flatMap(frame => (frame.type === 'agent' ? [frame.status] : []))
    expect(states[0]).toBe('active')
    await chat.frames.find('it sleeps', frame => frame.type === 'agent' && frame.status === 'sleeping')
  })

  test('accepts a message only once it is stored, and the same clientId again gives the same answer', async () => {
    const conversation = fresh()
    using chat = await openChat(hub)
    const first = await chat.say(conversation, '/help', 'same')
    using other = await openChat(hub)
    // Another socket reads the store, so it sees only what was really stored.
    await other.subscribe(conversation, 0)
    expect((await other.next('message')).message).toEqual(first)
    expect(await other.say(conversation, '/help', 'same')).toEqual(first)
    expect(await chat.say(conversation, 'another text', 'same')).toEqual(first)
    await other.answerTo(first)
    const messages = await untilMessages(other, conversation, 2)
    expect(messages.map(({ kind }) => kind)).toEqual(['user', 'agent'])
    // The same clientId is independent in another conversation.
    expect((await chat.say(fresh(), '/help', 'same')).id).not.toBe(first.id)
  })

  test('two clients see the same, numbered without gaps, whoever wrote', async () => {
    const conversation = fresh()
    using one = await openChat(hub)
    using two = await openChat(hub)
    await Promise.all([one.subscribe(conversation), two.subscribe(conversation)])
    const texts = Array.from({ length: 20 }, (_, index) => `/call odd__swallow {"index":${index}}`)
    const sent = await Promise.all(
      texts.map((text, index) => (index % 2 === 0 ? one : two).say(conversation, text)),
    )
    const answered = (chat: ChatClient) =>
      until('all are answered', () => {
        const replied = new Set(chat.messages.flatMap(message => message.inReplyTo ?? []))
        return sent.every(({ id }) => replied.has(id))
      })
    await Promise.all([answered(one), answered(two)])
    const seqs = one.messages.map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
    expect(two.messages).toEqual(one.messages)
    expect(one.messages.filter(({ kind }) => kind === 'user')).toHaveLength(texts.length)
  })

  test('a client that comes back gets exactly what it missed, then what comes', async () => {
    const conversation = fresh()
    using before = await openChat(hub)
    await before.subscribe(conversation)
    const first = await before.answerTo(await before.say(conversation, '/help'))
    before.socket.terminate()
    using other = await openChat(hub)
    await other.subscribe(conversation)
    await other.answerTo(await other.say(conversation, '/tools'))
    using back = await openChat(hub)
    const lastSeq = await back.subscribe(conversation, first.seq)
    expect(lastSeq).toBe(4)
    await other.answerTo(await other.say(conversation, '/tools odd'))
    const messages = await untilMessages(back, conversation, 4)
    expect(messages.map(({ seq }) => seq)).toEqual([3, 4, 5, 6])
    using silent = await openChat(hub)
    expect(await silent.subscribe(conversation)).toBe(6)
    expect(await silent.subscribe(conversation, 99)).toBe(6)
    silent.send({ type: 'ping' })
    await silent.next('pong')
    expect(silent.messages).toEqual([])
  })

  test('what was accepted is there after a restart, and goes on from the same number', async () => {
    const conversation = fresh()
    using chat = await openChat(hub)
    await chat.subscribe(conversation)
    const said = await chat.say(conversation, '/help')
    const answer = await chat.answerTo(said)
    const gone = once(chat.socket, 'close')
    await hub.stop()
    await within('the socket closes', gone)
    await hub.start()
    using again = await openChat(hub)
    await again.subscribe(conversation, 0)
    expect(await untilMessages(again, conversation, 2)).toEqual([said, answer])
    expect((await again.say(conversation, '/tools')).seq).toBe(3)
    await untilReady(hub, 'odd')
  })
})

describe('bad frames', () => {
  const message = (fields: object) =>
    JSON.stringify({ type: 'message', conversation: 'homelab', text: 'x', ...fields })
  const cases: [string, string, string, RegExp][] = [
    ['no JSON', 'hello', 'bad_request', /not JSON/],
    ['half a JSON', '{"type":"ping"', 'bad_request', /not JSON/],
    ['no object', '[1]', 'bad_request', /object|type/i],
    ['an unknown type', '{"type":"dance"}', 'bad_request', /type/],
    ['a type of the hub', '{"type":"welcome"}', 'bad_request', /type/],
    ['an unknown key', message({ colour: 'red' }), 'bad_request', /colour/],
    [
      'a text that is too long',
      message({ text: 'x'.repeat(100_001) }),
      'bad_request',
      /^text: a message has at most 100,000 characters/,
    ],
    ['an empty text', message({ text: ' ' }), 'bad_request', /^text: must not be empty/],
    ['a number as text', message({ text: 5 }), 'bad_request', /^text: .*string/],
    [
      'a wrong conversation',
      message({ conversation: 'Not/A/Name' }),
      'bad_request',
      /^conversation: .*<agent>/,
    ],
    ['an agent that there is not', message({ conversation: 'nobody' }), 'not_found', /nobody/],
    ['a negative after', '{"type":"subscribe","conversation":"homelab","after":-1}', 'bad_request', /after/],
    ['over 1 MiB', message({ text: 'x'.repeat(MIB) }), 'too_large', /bytes; at most 1048576/],
  ]
  test.each(cases)(
    '%s: an error that names it, nothing stored, the socket goes on',
    async (_name, frame, code, words) => {
      using chat = await openChat(hub)
      const lastSeq = await chat.subscribe('homelab')
      chat.sendRaw(frame)
      const error = await chat.next('error')
      expect(error).toMatchObject({ code, message: expect.stringMatching(words) })
      chat.send({ type: 'ping' })
      await chat.next('pong')
      expect(await chat.subscribe('homelab')).toBe(lastSeq)
    },
  )

  test('an error says which message it is about', async () => {
    using chat = await openChat(hub)
    chat.sendRaw(message({ text: '', clientId: 'mine' }))
    chat.sendRaw(message({ conversation: 'nobody', clientId: 'other' }))
    await chat.next('error', error => error.clientId === 'mine')
    await chat.next('error', error => error.clientId === 'other')
  })

  test('a frame that is far too large ends the socket, and the hub goes on', async () => {
    using chat = await openChat(hub)
    const closed = once(chat.socket, 'close')
    chat.socket.on('error', () => undefined)
    chat.sendRaw(Buffer.alloc(8 * MIB, 'x'))
    expect((await within('the socket closes', closed))[0]).toBe(1009)
    using next = await openChat(hub)
    await next.subscribe('homelab')
  })

  test('a flood is refused with words, what it lets through is stored once, and others are served', async () => {
    const conversation = fresh()
    using flooder = await openChat(hub)
    using other = await openChat(hub)
    await other.subscribe(conversation)
    const COUNT = 6_000
    for (let index = 0; index < COUNT; index++) flooder.send({ type: 'ping' })
    flooder.send({ type: 'message', conversation, text: '/help', clientId: 'after the flood' })
    await flooder.next('error', error => error.code === 'rate_limited' && /slow down/.test(error.message))
    await other.answerTo(await other.say(conversation, '/help'))
    const answers = () =>
      flooder.frames.all.filter(({ type }) => ['pong', 'error', 'accepted'].includes(type))
    await until('each frame was answered', () => answers().length > COUNT)
    expect(flooder.frames.all.filter(({ type }) => type === 'pong').length).toBeLessThan(COUNT / 2)
    const wasAccepted = flooder.frames.all.some(({ type }) => type === 'accepted')
    const texts = (await untilMessages(other, conversation, wasAccepted ? 4 : 2)).map(
      ({ clientId }) => clientId,
    )
    expect(texts.includes('after the flood')).toBe(wasAccepted)
  })
})
