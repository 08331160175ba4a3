import { expect, test } from 'vitest'
import { drainItems } from '../../tests/support/drain-items.ts'
import { openTempStore, type TempStore } from '../../tests/support/temp-store.ts'
import {
  countStep,
  createCycle,
  cyclesOfMessage,
  endCycle,
  findCycles,
  readCycle,
  runningCycle,
} from './cycles.ts'
import { postItem } from './inbox.ts'

const make = ({ write }: TempStore, id: string, thread: string, at: number) =>
  write(tx => createCycle(tx, { id, thread_id: thread, fence: 1, reply_to: 'homelab', started_at: at }))
const usage = { input: 100, output: 10, cachedInput: 50, costMicros: 7 }

test('a thread has at most one running cycle', async () => {
  await using store = await openTempStore()
  const first = await make(store, 'cyc_1', 'thr_a', 1)
  await expect(make(store, 'cyc_2', 'thr_a', 2)).rejects.toThrow(/unique/i)
  expect(await runningCycle(store.db, 'thr_a')).toEqual(first)
  expect(await readCycle(store.db, first.id)).toEqual(first)
  await store.write(tx => endCycle(tx, 'cyc_1', { status: 'done', at: 3 }))
  expect(await runningCycle(store.db, 'thr_a')).toBeUndefined()
  await make(store, 'cyc_2', 'thr_a', 4)
  expect((await runningCycle(store.db, 'thr_a'))?.id).toBe('cyc_2')
})

test('a cycle is found by the beginning of its id', async () => {
  await using store = await openTempStore()
  for (const id of ['cyc_ab1', 'cyc_ab12', 'cyc_b']) await make(store, id, `thr_${id}`, 1)
  const found = async (beginning: string) => (await findCycles(store.db, beginning)).map(({ id }) => id)
  expect(await found('cyc_b')).toEqual(['cyc_b'])
  expect(await found('ab12')).toEqual(['cyc_ab12'])
  expect(await found('cyc_ab1')).toEqual(['cyc_ab1', 'cyc_ab12'])
  expect(await found('cyc_c')).toEqual([])
})

test('steps, tokens and money add up by cycle and thread', async () => {
  await using store = await openTempStore()
  await make(store, 'cyc_1', 'thr_a', 10)
  await make(store, 'cyc_2', 'thr_b', 20)
  for (const id of ['cyc_1', 'cyc_1', 'cyc_2']) await store.write(tx => countStep(tx, id, usage))
  await store.write(tx => endCycle(tx, 'cyc_1', { status: 'failed', at: 15, note: 'why' }))
  await make(store, 'cyc_3', 'thr_a', 30)
  const [row] = await store.db.selectFrom('cycles').selectAll().where('id', '=', 'cyc_1').execute()
  expect(row).toMatchObject({
    steps: 2,
    input_tokens: 200,
    output_tokens: 20,
    cached_tokens: 100,
    cost_micros: 14,
    status: 'failed',
    ended_at: 15,
    note: 'why',
  })
})

test('the cycle that took a message', async () => {
  await using store = await openTempStore()
  const payload = { kind: 'notice' as const, text: 'x' }
  await store.write(tx =>
    postItem(tx, { thread: 'thr_a', source: 'chat', externalId: 'msg_1', payload, power: 'routine', at: 0 }),
  )
  expect(await cyclesOfMessage(store.db, 'msg_1')).toEqual([
    { thread: 'thr_a', id: null, status: null, note: null, input_tokens: null, output_tokens: null },
  ])
  await make(store, 'cyc_1', 'thr_a', 1)
  await store.write(tx => drainItems(tx, 'thr_a', 'cyc_1'))
  expect(await cyclesOfMessage(store.db, 'msg_1')).toEqual([
    { thread: 'thr_a', id: 'cyc_1', status: 'running', note: null, input_tokens: 0, output_tokens: 0 },
  ])
  expect(await cyclesOfMessage(store.db, 'msg_2')).toEqual([])
})
