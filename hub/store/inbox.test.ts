import { expect, test } from 'vitest'
import type { InboxPayload } from '../../schemas/inbox.ts'
import { drainItems } from '../../tests/support/drain-items.ts'
import { openTempStore } from '../../tests/support/temp-store.ts'
import {
  hasWaiting,
  itemsOfCycle,
  messagesTakenBy,
  type NewInboxItem,
  postItem,
  waitingCounts,
} from './inbox.ts'

const message = (id: string): InboxPayload => ({
  kind: 'message',
  conversation: 'homelab',
  messageId: id,
  author: 'alex',
  text: id,
})
const item = (externalId: string, over: Partial<NewInboxItem> = {}): NewInboxItem => ({
  thread: 'thr_a',
  source: 'chat',
  externalId,
  payload: message(externalId),
  power: 'person',
  at: 5,
  ...over,
})

test('promise 2: a repeated delivery is absorbed by thread, source and external id', async () => {
  await using store = await openTempStore()
  const post = (each: NewInboxItem) => store.write(tx => postItem(tx, each))
  const posted = [
    await post(item('1')),
    await post(item('1', { at: 9, payload: message('other') })),
    await post(item('1', { source: 'event' })),
    await post(item('1', { thread: 'thr_b' })),
    await post(item('2')),
  ]
  expect(posted).toEqual([true, false, true, true, true])
})

test('promise 2: draining takes everything of one thread once, in the order of arrival', async () => {
  await using store = await openTempStore()
  const ids = ['9', '1', '5', '3']
  await store.write(async tx => {
    for (const id of ids) await postItem(tx, item(id, { conversation: 'homelab' }))
    await postItem(tx, item('x', { thread: 'thr_b' }))
  })
  expect([await hasWaiting(store.db, 'thr_a'), await hasWaiting(store.db, 'thr_c')]).toEqual([true, false])
  expect(await waitingCounts(store.db)).toEqual([
    { thread: 'thr_a', count: 4, oldest: 5 },
    { thread: 'thr_b', count: 1, oldest: 5 },
  ])
  const first = await store.write(tx => drainItems(tx, 'thr_a', 'cyc_1'))
  expect(first.map(({ payload, conversation, at }) => [payload, conversation, at])).toEqual(
    ids.map(id => [message(id), 'homelab', 5]),
  )
  expect(await store.write(tx => drainItems(tx, 'thr_a', 'cyc_2'))).toEqual([])
  expect(await store.write(tx => postItem(tx, item('9')))).toBe(false)
  expect(await itemsOfCycle(store.db, 'cyc_1')).toEqual(first)
  expect(await hasWaiting(store.db, 'thr_a')).toBe(false)
  expect(await waitingCounts(store.db)).toEqual([{ thread: 'thr_b', count: 1, oldest: 5 }])
})

test('the messages of people that a cycle took', async () => {
  await using store = await openTempStore()
  await store.write(async tx => {
    await postItem(tx, item('msg_1'))
    await postItem(tx, item('n', { source: 'hub', payload: { kind: 'notice', text: 'x' } }))
    await postItem(tx, item('msg_2'))
    await drainItems(tx, 'thr_a', 'cyc_1')
    await postItem(tx, item('msg_3'))
  })
  expect(await messagesTakenBy(store.db, 'cyc_1')).toEqual(['msg_1', 'msg_2'])
})
