import { expect, test } from 'vitest'
import type { ChatMessage } from '../../schemas/chat.ts'
import { drainItems } from '../../tests/support/drain-items.ts'
import { openMetaTools } from '../../tests/support/meta-tools.ts'
import { readMessages } from '../store/conversations.ts'
import { postItem } from '../store/inbox.ts'

async function openSender() {
  const tools = await openMetaTools({
    newId: prefix => `${prefix}_new`,
    agentsOf: conversation => (conversation.startsWith('homelab') ? ['homelab'] : ['other']),
  })
  const heard: ChatMessage[] = []
  tools.signals.on('message', message => heard.push(message))
  const effects: (() => void)[] = []
  const call = (args: Record<string, unknown>) =>
    tools.call('send_message', args, { now: 7, afterCommit: effect => effects.push(effect) })
  return { ...tools, heard, effects, call }
}

test('it writes into a conversation, as an answer to what the cycle took, and tells it after the commit', async () => {
  await using sender = await openSender()
  const payload = {
    kind: 'message' as const,
    conversation: 'homelab',
    messageId: 'msg_1',
    author: 'alex',
    text: 'x',
  }
  await sender.store.write(async tx => {
    await postItem(tx, {
      thread: 'thr_homelab',
      source: 'chat',
      externalId: 'msg_1',
      payload,
      power: 'routine',
      at: 0,
    })
    await drainItems(tx, 'thr_homelab', 'cyc_1')
  })
  expect(await sender.call({ to: 'homelab/x', text: 'hello' })).toMatchObject({
    isError: false,
    text: 'Sent to homelab/x.',
    structured: { conversation: 'homelab/x', id: 'msg_new' },
  })
  const [message] = await readMessages(sender.store.db, 'homelab/x', 0, 9)
  expect(message).toMatchObject({
    seq: 1,
    kind: 'agent',
    author: 'homelab',
    text: 'hello',
    at: 7,
    inReplyTo: ['msg_1'],
  })
  expect(sender.heard).toEqual([])
  for (const effect of sender.effects) effect()
  expect(sender.heard).toEqual([message])
})

test('without a message to answer it answers none', async () => {
  await using sender = await openSender()
  await sender.call({ to: 'homelab', text: 'warm in here' })
  const [message] = await readMessages(sender.store.db, 'homelab', 0, 9)
  expect(message && 'inReplyTo' in message).toBe(false)
})

test.for([
  [{ to: 'other', text: 'x' }, /other is no conversation of yours/],
  [{ to: 'Not A Name', text: 'x' }, /wrong arguments: to/],
  [{ to: 'homelab', text: '' }, /wrong arguments: text/],
  [{ to: 'homelab', text: 'x'.repeat(100_001) }, /wrong arguments: text/],
] as const)('a wrong call writes nothing', async ([args, text]) => {
  await using sender = await openSender()
  expect(await sender.call(args)).toMatchObject({ isError: true, text: expect.stringMatching(text) })
  expect(await sender.store.db.selectFrom('messages').selectAll().execute()).toEqual([])
  expect(sender.effects).toEqual([])
})
