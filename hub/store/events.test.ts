import { expect, test } from 'vitest'
import { openTempStore } from '../../tests/support/temp-store.ts'
import {
  eventsAfter,
  listEvents,
  type NewEventRow,
  readCursor,
  readEventFeed,
  recordEvent,
  saveCursor,
  settleEvents,
  takeEvents,
} from './events.ts'

const event = (id: string, over: Partial<NewEventRow> = {}): NewEventRow => ({
  id,
  source: 'metrics',
  external_id: id,
  type: 'cpu_high',
  key: '{}',
  payload_json: '{}',
  status: 'pending',
  routed_to_json: '[]',
  note: null,
  at: 1,
  received_at: 1,
  repeats: 0,
  release_at: null,
  is_storm: 0,
  ...over,
})

test('promise 2: an event is recorded once by source and external id', async () => {
  await using store = await openTempStore()
  const record = (each: NewEventRow) => store.write(tx => recordEvent(tx, each))
  expect(await record(event('a', { external_id: '1' }))).toBe(true)
  expect(await record(event('b', { external_id: '1' }))).toBe(false)
  expect(await record(event('c', { external_id: '1', source: 'games' }))).toBe(true)
})

test('the newest first, by type and status, up to a limit', async () => {
  await using store = await openTempStore()
  await store.write(async tx => {
    await recordEvent(tx, event('a', { received_at: 3 }))
    await recordEvent(tx, event('b', { received_at: 2, type: 'disk_high' }))
    await recordEvent(tx, event('c', { received_at: 3 }))
    await recordEvent(tx, event('d', { received_at: 1, status: 'ignored' }))
    await takeEvents(tx, ['a'])
    await settleEvents(tx, ['a', 'd'])
    await takeEvents(tx, [])
  })
  const list = async (filter: Partial<Parameters<typeof listEvents>[1]>) =>
    (await listEvents(store.db, { limit: 10, ...filter })).map(({ id }) => id)
  expect(await list({})).toEqual(['c', 'a', 'b', 'd'])
  expect(await list({ limit: 2 })).toEqual(['c', 'a'])
  expect(await list({ type: 'disk_high' })).toEqual(['b'])
  expect(await list({ status: 'handled' })).toEqual(['a'])
  expect(await list({ status: 'ignored' })).toEqual(['d'])
  expect(await list({ status: 'pending', type: 'cpu_high' })).toEqual(['c'])
})

test('a cursor is kept by server', async () => {
  await using store = await openTempStore()
  expect(await readCursor(store.db, 'metrics')).toBeUndefined()
  await store.write(tx => saveCursor(tx, 'metrics', { stream: 's1', cursor: 3 }))
  await store.write(tx => saveCursor(tx, 'metrics', { stream: 's2', cursor: 1 }))
  await store.write(tx => saveCursor(tx, 'games', { stream: 'g', cursor: 9 }))
  expect(await readCursor(store.db, 'metrics')).toEqual({ stream: 's2', cursor: 1 })
})

test('events are read on in the order in which they came, whatever their times', async () => {
  await using store = await openTempStore()
  const { stream, lastSeq } = await readEventFeed(store.db)
  expect([stream, lastSeq]).toEqual([expect.stringMatching(/^.{36}$/), 0])
  await store.write(async tx => {
    await recordEvent(tx, event('late', { received_at: 9 }))
    await recordEvent(tx, event('again', { external_id: 'late' }))
    await recordEvent(tx, event('early', { received_at: 1 }))
    await recordEvent(tx, event('third', { received_at: 5 }))
  })
  const after = async (seq: number, limit: number) =>
    (await eventsAfter(store.db, seq, limit)).map(row => [row.seq, row.id])
  expect(await after(0, 2)).toEqual([
    [1, 'late'],
    [2, 'early'],
  ])
  expect(await after(2, 2)).toEqual([[3, 'third']])
  // A seq is never given twice, whatever was deleted.
  await store.write(tx => tx.deleteFrom('events').execute())
  await store.write(tx => recordEvent(tx, event('fourth')))
  expect(await after(0, 9)).toEqual([[4, 'fourth']])
  expect(await readEventFeed(store.db)).toEqual({ stream, lastSeq: 4 })
})
