import { describe, expect, test } from 'vitest'
import { openTempStore } from '../../tests/support/temp-store.ts'
import {
  appendMessage,
  changeConversation,
  findByClientId,
  lastSeqOf,
  listConversations,
  messagesOfCycle,
  type NewMessage,
  readMessages,
} from './conversations.ts'

const message = (id: string, over: Partial<NewMessage> = {}): NewMessage => ({
  id,
  conversation: 'homelab',
  kind: 'user',
  author: 'alex',
  text: `text of ${id}`,
  at: 5,
  ...over,
})

test('seq grows by conversation without gaps, also over writes that fail and writes at once', async () => {
  await using store = await openTempStore()
  const append = (each: NewMessage) => store.write(tx => appendMessage(tx, each))
  const appendInVain = (each: NewMessage) =>
    store.write(async tx => {
      await appendMessage(tx, each)
      throw new Error('It failed after all')
    })
  await append(message('a'))
  const results = await Promise.allSettled([
    append(message('b')),
    appendInVain(message('x')),
    append(message('c', { conversation: 'phone' })),
    append(message('d')),
  ])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  const seqs = async (conversation: string) =>
    (await readMessages(store.db, conversation, 0, 100)).map(({ id, seq }) => [id, seq])
  expect(await seqs('homelab')).toEqual([
    ['a', 1],
    ['b', 2],
    ['d', 3],
  ])
  expect(await seqs('phone')).toEqual([['c', 1]])
  expect([await lastSeqOf(store.db, 'homelab'), await lastSeqOf(store.db, 'nowhere')]).toEqual([3, 0])
  expect(await listConversations(store.db)).toEqual([
    { id: 'homelab', lastSeq: 3, lastAt: 5 },
    { id: 'phone', lastSeq: 1, lastAt: 5 },
  ])
})

describe('the title of a conversation', () => {
  const LONG =
    'Why does the download of the television series stop every night at about four o’clock, and who stops it?'
  test.each([
    ['homelab/t-0a1b2c3d', 'user', 'How warm\nis it?', 'How warm is it?'],
    ['family/gus.t-0a1b2c3d', 'user', '家里的服务器 🌡️ كيف', '家里的服务器 🌡️ كيف'],
    ['homelab/t-0a1b2c3d', 'user', LONG, 'Why does the download of the television series stop every…'],
    ['homelab/t-0a1b2c3d', 'user', '🌡️'.repeat(50), `${'🌡️'.repeat(30)}…`],
    ['homelab/t-0a1b2c3d', 'agent', 'An alarm', undefined],
    ['homelab/disks', 'user', 'How full?', undefined],
    ['homelab', 'user', 'How full?', undefined],
  ] as const)('in %s, begun by the %s with %j, is %j', async (conversation, kind, text, title) => {
    await using store = await openTempStore()
    await store.write(tx => appendMessage(tx, message('a', { conversation, kind, text })))
    await store.write(tx => appendMessage(tx, message('b', { conversation, text: 'Later' })))
    expect((await listConversations(store.db, conversation))[0]?.title).toBe(title)
  })

  test('is what a person makes it, and a pin stays beside it', async () => {
    await using store = await openTempStore()
    await store.write(tx => appendMessage(tx, message('a')))
    const change = (asked: Parameters<typeof changeConversation>[2]) =>
      store.write(tx => changeConversation(tx, 'homelab', asked))
    await change({ title: ' الأقراص 📀 \n' })
    await change({ pinned: true })
    const plain = { id: 'homelab', lastSeq: 1, lastAt: 5 }
    expect(await listConversations(store.db)).toEqual([{ ...plain, title: 'الأقراص 📀', pinned: true }])
    await change({ title: '', pinned: false })
    expect(await listConversations(store.db)).toEqual([plain])
    const none = store.write(tx => changeConversation(tx, 'homelab/none', { pinned: true }))
    await expect(none).rejects.toThrow(/no conversation homelab\/none/)
  })
})

test('a message comes back as it was, without what it has not', async () => {
  await using store = await openTempStore()
  const whole = message('a', {
    token: 'owner',
    clientId: '1',
    inReplyTo: ['x'],
    data: { n: 1 },
    cycle: 'cyc_1',
  })
  const written = await store.write(tx => appendMessage(tx, whole))
  const plain = {
    id: 'a',
    conversation: 'homelab',
    kind: 'user',
    author: 'alex',
    text: 'text of a',
    at: 5,
    seq: 1,
  }
  expect(written).toEqual({ ...plain, clientId: '1', inReplyTo: ['x'], data: { n: 1 } })
  expect(await messagesOfCycle(store.db, 'cyc_1')).toEqual([written])
  const bare = await store.write(tx => appendMessage(tx, message('b')))
  expect(bare).toEqual({ ...plain, id: 'b', text: 'text of b', seq: 2 })
})

test('a page of messages begins after what was read and ends at its limit', async () => {
  await using store = await openTempStore()
  for (const id of ['a', 'b', 'c', 'd']) await store.write(tx => appendMessage(tx, message(id)))
  expect((await readMessages(store.db, 'homelab', 1, 2)).map(({ id }) => id)).toEqual(['b', 'c'])
  expect(await readMessages(store.db, 'homelab', 4, 2)).toEqual([])
})

test("a client's own id is found within its token and conversation", async () => {
  await using store = await openTempStore()
  await store.write(tx => appendMessage(tx, message('a', { token: 'owner', clientId: '1' })))
  const find = (conversation: string, token: string, id: string) =>
    store.write(async tx => (await findByClientId(tx, conversation, token, id))?.id)
  expect(await find('homelab', 'owner', '1')).toBe('a')
  expect(await find('homelab', 'other', '1')).toBeUndefined()
  expect(await find('phone', 'owner', '1')).toBeUndefined()
  expect(await find('homelab', 'owner', '2')).toBeUndefined()
})
