import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { createEventStore } from './event-store.ts'

const answer = (id: number, length: number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  result: { text: 'x'.repeat(length) },
})

/** The messages after this event. */
async function after(store: ReturnType<typeof createEventStore>, lastEventId: string) {
  const sent: JSONRPCMessage[] = []
  await store.replayEventsAfter(lastEventId, { send: async (_id, message) => void sent.push(message) })
  return sent
}

test('a stream goes on after an event with what it alone sent', async () => {
  const store = createEventStore()
  const first = await store.storeEvent('one', {} as JSONRPCMessage)
  await store.storeEvent('two', answer(1, 1))
  await store.storeEvent('one', answer(2, 1))
  expect(await after(store, first)).toEqual([answer(2, 1)])
})

test('of long messages few are kept, and the newest always', async () => {
  const store = createEventStore()
  const ids: string[] = []
  for (let count = 0; count < 10; count++) ids.push(await store.storeEvent('one', answer(count, 1024 * 1024)))
  const kept = await Promise.all(ids.map(id => store.getStreamIdForEventId?.(id)))
  expect(kept.filter(stream => stream !== undefined).length).toBe(3)
  const last = await store.storeEvent('one', answer(11, 20 * 1024 * 1024))
  expect(await store.getStreamIdForEventId?.(last)).toBe('one')
  expect(await store.getStreamIdForEventId?.(ids.at(-1) ?? '')).toBeUndefined()
})
