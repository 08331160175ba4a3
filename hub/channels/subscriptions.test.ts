import { expect, onTestFinished, test } from 'vitest'
import type { ChatMessage, HubFrame } from '../../schemas/chat.ts'
import { createRecord } from '../../tests/support/until.ts'
import { createLog } from '../core/log.ts'
import { createSubscriptions } from './subscriptions.ts'

const toMessage = (seq: number): ChatMessage => ({
  seq,
  id: `msg_${seq}`,
  conversation: 'homelab',
  kind: 'user',
  author: 'alex',
  text: `text ${seq}`,
  at: seq,
})
const toWords = (frame: HubFrame) => {
  if (frame.type === 'message') return frame.message.seq
  return frame.type === 'subscribed' ? `subscribed ${frame.lastSeq}` : frame.type
}

/** Opens one client's subscriptions to `count` messages; a read returns what was stored when it began. */
function open(count: number) {
  let stored = Array.from({ length: count }, (_, index) => toMessage(index + 1))
  let gate = Promise.resolve()
  const read = async <Value>(value: Value) => {
    await gate
    return value
  }
  const sent = createRecord<string | number>()
  const lines: string[] = []
  const subscriptions = createSubscriptions({
    log: createLog({ level: 'debug', now: () => 0, write: line => lines.push(line) }),
    send: frame => sent.add(toWords(frame)),
    readMessages: (_conversation, after, limit) =>
      read(stored.filter(({ seq }) => seq > after).slice(0, limit)),
    lastSeq: () => read(stored.length),
  })
  onTestFinished(() => expect(lines).toEqual([]))
  return {
    subscribe: (after?: number) => subscriptions.add('homelab', after),
    say() {
      const message = toMessage(stored.length + 1)
      stored.push(message)
      subscriptions.onMessage(message)
    },
    forget() {
      stored = []
      subscriptions.onForgotten('homelab')
    },
    /** Delays the result of every read until the returned function is called. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
    untilSent: (...expected: (string | number)[]) =>
      sent
        .find(`${expected.at(-1)} is sent`, () => sent.all.length >= expected.length)
        .then(() => expect(sent.all).toEqual(expected)),
  }
}

test('a conversation that is deleted begins anew for whoever follows it', async () => {
  const client = open(50)
  await client.subscribe(50)
  client.forget()
  client.say()
  client.say()
  await client.untilSent('subscribed 50', 'subscribed 0', 1, 2)
})

test('what was read of it before it was deleted is not sent after', async () => {
  const client = open(2)
  const subscribed = client.subscribe(0)
  const release = client.hold()
  await client.untilSent('subscribed 2')
  client.forget()
  client.say()
  release()
  await subscribed
  await client.untilSent('subscribed 2', 'subscribed 0', 1)
})

test('one that is deleted while somebody subscribes is followed from its new beginning', async () => {
  const client = open(50)
  const release = client.hold()
  const subscribed = client.subscribe(50)
  client.forget()
  release()
  await subscribed
  client.say()
  await client.untilSent('subscribed 0', 1)
})

test('a second subscription never tells of less than the first one sent', async () => {
  const client = open(50)
  await client.subscribe()
  const release = client.hold()
  const subscribed = client.subscribe(50)
  client.say()
  release()
  await subscribed
  await client.untilSent('subscribed 50', 51, 'subscribed 51', 51)
})
