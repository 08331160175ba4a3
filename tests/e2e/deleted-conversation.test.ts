import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChatSocket } from '../../hub/cli/chat-socket.ts'
import type { HubFrame } from '../../schemas/chat.ts'
import { openChat } from '../support/chat-client.ts'
import { forgetConversation } from '../support/forget-conversation.ts'
import { untilNoChildren } from '../support/processes.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { createRecord, until } from '../support/until.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub({ config: 'servers: { metrics: false }\n' })
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await untilNoChildren()
})

const seqsOf = (frames: readonly HubFrame[]) =>
  frames.flatMap(frame => (frame.type === 'message' ? [frame.message.seq] : []))

test('who follows a conversation that is deleted hears of that, and what is said in it then', async () => {
  const conversation = 'homelab/short'
  using follower = await openChat(hub)
  await follower.subscribe(conversation)
  await follower.answerTo(await follower.say(conversation, '/help'))
  await follower.answerTo(await follower.say(conversation, '/help'))
  const from = follower.frames.all.length
  await forgetConversation(hub, conversation)
  await follower.frames.find('it is told', frame => frame.type === 'subscribed', from)
  expect(follower.frames.all.slice(from)).toContainEqual({ type: 'subscribed', conversation, lastSeq: 0 })
  using other = await openChat(hub)
  await other.ask(conversation, '/help')
  await until('it has both', () => seqsOf(follower.frames.all).length >= 6)
  expect(seqsOf(follower.frames.all)).toEqual([1, 2, 3, 4, 1, 2])
})

test.each(['while it looks on', 'while it is away'])(
  'the terminal misses nothing of one deleted %s',
  async when => {
    const conversation = `homelab/${when.replaceAll(' ', '-')}`
    const frames = createRecord<HubFrame>()
    const states = createRecord<string>()
    let isAway = false
    const find = () => {
      if (isAway) throw new Error('No hub is found')
      return { url: hub.url, token: hub.token }
    }
    using socket = openChatSocket(find, conversation, {
      onFrame: frame => frames.add(frame),
      onState: state => states.add(state),
      onRefused: why => states.add(why),
    })
    const count = (type: HubFrame['type'], least: number) =>
      until(`${least} frames ${type}`, () => frames.all.filter(frame => frame.type === type).length >= least)
    await count('subscribed', 1)
    socket.send('/help')
    socket.send('/tools')
    await until('both are answered', () => new Set(answeredIn(frames.all)).size === 2)
    const seen = Math.max(...seqsOf(frames.all))
    if (when === 'while it looks on') {
      await forgetConversation(hub, conversation)
      await count('subscribed', 2)
    }
    isAway = true
    await hub.stop()
    await states.find('it is lost', state => state === 'lost')
    await hub.start()
    if (when === 'while it is away') await forgetConversation(hub, conversation)
    const from = frames.all.length
    using other = await openChat(hub)
    await other.ask(conversation, '/help')
    isAway = false
    await until('it has both', () => seqsOf(frames.all.slice(from)).length >= 2)
    expect(seen).toBeGreaterThan(2)
    expect(seqsOf(frames.all.slice(from))).toEqual([1, 2])
  },
)

const answeredIn = (frames: readonly HubFrame[]) =>
  frames.flatMap(frame =>
    frame.type === 'message' && frame.message.kind === 'agent' ? (frame.message.inReplyTo ?? []) : [],
  )
