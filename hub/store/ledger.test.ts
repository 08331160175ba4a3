import { expect, test } from 'vitest'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { callsOfStep, finishCall, planCalls, resultOf, startCall } from './ledger.ts'
import type { NewToolCall } from './tables.ts'

const planned = (id: string, position: number): NewToolCall => ({
  id,
  thread_id: 'thr_a',
  cycle_id: 'cyc_1',
  step: 1,
  position,
  call_id: `call_${id}`,
  tool: 'look',
  arguments: '{}',
  status: 'planned',
  result_json: null,
  created_at: 1,
  started_at: null,
  ended_at: null,
})

test('promise 3: planned, started, ended; in the order in which they were asked for', async () => {
  await using store = await openTempStore()
  await store.write(tx => planCalls(tx, [planned('b', 1), planned('a', 0), { ...planned('c', 0), step: 2 }]))
  await store.write(tx => planCalls(tx, []))
  await store.write(tx => startCall(tx, 'a', 5))
  const result = { text: 'ok', isError: false, structured: { n: 1 } }
  await store.write(tx => finishCall(tx, 'a', { status: 'ok', result, now: 9 }))
  const rows = await callsOfStep(store.db, 'cyc_1', 1)
  expect(rows).toMatchObject([
    { id: 'a', status: 'ok', started_at: 5, ended_at: 9 },
    { id: 'b', status: 'planned', started_at: null, ended_at: null },
  ])
  expect(rows.map(resultOf)).toEqual([
    result,
    { text: 'No result was recorded for this call.', isError: true },
  ])
})

test('starting what has started, or ended, changes nothing', async () => {
  await using store = await openTempStore()
  await store.write(tx => planCalls(tx, [planned('a', 0)]))
  await store.write(tx => startCall(tx, 'a', 5))
  await store.write(tx => startCall(tx, 'a', 6))
  await store.write(tx =>
    finishCall(tx, 'a', { status: 'error', result: { text: '', isError: true }, now: 7 }),
  )
  await store.write(tx => startCall(tx, 'a', 8))
  expect(await callsOfStep(store.db, 'cyc_1', 1)).toMatchObject([{ status: 'error', started_at: 5 }])
})
