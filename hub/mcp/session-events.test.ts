import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { SessionEvents } from './session-events.ts'

const answer = (id: number, length: number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  result: { text: 'x'.repeat(length) },
})

/** Returns the messages after this event. */
async function missed(store: SessionEvents, lastEventId: string) {
  const sent: JSONRPCMessage[] = []
  await store.replayEventsAfter(lastEventId, { send: async (_id, message) => void sent.push(message) })
  return sent
}

test('a stream goes on after an event with what it alone sent', async () => {
  const store = new SessionEvents()
  const first = await store.storeEvent('one', {} as JSONRPCMessage)
  await store.storeEvent('two', answer(1, 1))
  await store.storeEvent('one', answer(2, 1))
  expect(await missed(store, first)).toEqual([answer(2, 1)])
})

test('of long messages few are kept, and the newest always', async () => {
  const store = new SessionEvents()
  const first = await store.storeEvent('one', {} as JSONRPCMessage)
  for (let count = 0; count < 10; count++) await store.storeEvent('one', answer(count, 1024 * 1024))
  expect((await missed(store, first)).length).toBe(3)
  const long = answer(11, 20 * 1024 * 1024)
  await store.storeEvent('one', long)
  expect(await missed(store, first)).toEqual([long])
})

describe('a stream of which others pushed the message out that its client had last', () => {
  const change = (name: string): JSONRPCMessage => ({ jsonrpc: '2.0', method: `notifications/${name}` })
  const flood = async (store: SessionEvents, many: number) => {
    for (let count = 0; count < many; count++) await store.storeEvent(`other ${count}`, answer(count, 1))
  }

  test('goes on where nothing was missed', async () => {
    const store = new SessionEvents()
    const last = await store.storeEvent('own', change('first'))
    await flood(store, 2_000)
    expect(await store.getStreamIdForEventId(last)).toBe('own')
    expect(await missed(store, last)).toEqual([])
  })

  test('goes on with all of it that is kept', async () => {
    const store = new SessionEvents()
    const last = await store.storeEvent('own', change('first'))
    await store.storeEvent('own', change('second'))
    await flood(store, 800)
    await store.storeEvent('own', change('third'))
    await store.storeEvent('own', change('fourth'))
    await flood(store, 800)
    expect(await store.getStreamIdForEventId(last)).toBe('own')
    expect(await missed(store, last)).toEqual([change('third'), change('fourth')])
  })

  test('is over where its answer went as well', async () => {
    const store = new SessionEvents()
    const last = await store.storeEvent('call', change('progress'))
    await store.storeEvent('call', answer(1, 1))
    await flood(store, 999)
    expect(await store.getStreamIdForEventId(last)).toBe('call')
    await flood(store, 1)
    expect(await store.getStreamIdForEventId(last)).toBeUndefined()
  })

  test('is not remembered for ever where it gets no answer', async () => {
    const store = new SessionEvents()
    const first = await store.storeEvent('cancelled', change('progress'))
    for (let count = 0; count < 999; count++) await store.storeEvent(`cancelled ${count}`, change('progress'))
    expect(await store.getStreamIdForEventId(first)).toBe('cancelled')
    await store.storeEvent('one more', change('progress'))
    expect(await store.getStreamIdForEventId(first)).toBeUndefined()
  })

  test.each(['never~1', 'own~2', 'own~0', 'own~-1', 'own~', 'own~x', 'own', '~1', ''])(
    'but %j, which the hub never gave, is refused',
    async id => {
      const store = new SessionEvents()
      await store.storeEvent('own', change('first'))
      expect(await store.getStreamIdForEventId(id)).toBeUndefined()
    },
  )
})

test('a stream that was dropped is known no more, and the others are', async () => {
  const store = new SessionEvents()
  const dropped = store.add('cancelled', '{"progress":1}')
  const kept = store.add('other', '{"progress":1}')
  store.drop('cancelled')
  expect(await store.getStreamIdForEventId(dropped)).toBeUndefined()
  expect(await store.getStreamIdForEventId(kept)).toBe('other')
})

test('sessions together keep no more than a share of memory, and an ended one frees its part', () => {
  const together = { characters: 0 }
  const sessions = Array.from({ length: 20 }, () => new SessionEvents(together))
  const text = 'x'.repeat(1024 * 1024)
  for (let round = 0; round < 6; round++)
    for (const [index, session] of sessions.entries()) session.add(`s${index}-${round}`, text, true)
  const most = 32 * text.length + sessions.length * text.length
  expect(together.characters).toBeLessThanOrEqual(most)
  for (const session of sessions) session.leave()
  sessions[0]?.add('late', text, true)
  expect(together.characters).toBe(0)
})
