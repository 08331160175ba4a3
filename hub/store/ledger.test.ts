import { expect, test } from 'vitest'
import { openTempStore } from '../../tests/support/temp-store.ts'
import {
  callsOfStep,
  fingerprintOf,
  finishCall,
  keepInHistory,
  planCalls,
  resultOf,
  startCall,
} from './ledger.ts'
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

test('a result that the history holds is not kept twice, and can still be told from others', async () => {
  await using store = await openTempStore()
  const results = ['a', 'a', 'b'].map(text => ({ text: text.repeat(10_000), isError: false }))
  await store.write(async tx => {
    await planCalls(
      tx,
      results.map((_each, index) => planned(`${index}`, index)),
    )
    for (const [index, result] of results.entries())
      await finishCall(tx, `${index}`, { status: 'ok', result, now: 1 })
  })
  const full = await callsOfStep(store.db, 'cyc_1', 1)
  await store.write(tx => keepInHistory(tx, full.slice(0, 2)))
  await store.write(tx => keepInHistory(tx, full.slice(0, 1)))
  const rows = await callsOfStep(store.db, 'cyc_1', 1)
  expect(rows.slice(0, 2).map(row => row.result_json?.length)).toEqual([80, 80])
  const [one, same, other] = rows.map(row => fingerprintOf(row.result_json ?? ''))
  expect(one).toBe(same)
  expect(one).not.toBe(other)
  // A row of an earlier version holds its result.
  expect(rows.map(row => resultOf(row).text.length > 1_000)).toEqual([false, false, true])
})

test('the result of a call that waited for a yes, and a short one, stay in the ledger', async () => {
  await using store = await openTempStore()
  const result = { text: 'a'.repeat(10_000), isError: false }
  await store.write(async tx => {
    await planCalls(tx, [{ ...planned('asked', 0), approval_id: 'apr_1' }, planned('short', 1)])
    await finishCall(tx, 'asked', { status: 'ok', result, now: 1 })
    await finishCall(tx, 'short', { status: 'ok', result: { text: 'fine', isError: false }, now: 1 })
  })
  await store.write(async tx => keepInHistory(tx, await callsOfStep(tx, 'cyc_1', 1)))
  const rows = await callsOfStep(store.db, 'cyc_1', 1)
  expect(rows.map(row => resultOf(row).text)).toEqual([result.text, 'fine'])
})
