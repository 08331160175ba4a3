import { expect, test } from 'vitest'
import { openTempStore, type TempStore } from '../../tests/support/temp-store.ts'
import { createCycle, endCycle } from './cycles.ts'
import { hasWaiting, postItem } from './inbox.ts'
import {
  agentOfThread,
  claimThread,
  ensureMainThread,
  listThreads,
  mainThreadId,
  moveWindow,
  releaseThread,
  threadsWithWork,
  voidLeases,
} from './threads.ts'

const ID = 'thr_homelab'
const ITEM = {
  thread: ID,
  power: 'routine' as const,
  source: 's',
  externalId: '1',
  payload: { kind: 'notice' as const, text: 'x' },
  at: 0,
}
const claim = ({ write }: TempStore, owner: string, now: number) =>
  write(tx => claimThread(tx, { id: ID, owner, until: now + 1_000, now }))

test('the main thread of an agent is made once', async () => {
  await using store = await openTempStore()
  for (const now of [1, 2]) {
    expect(await store.write(tx => ensureMainThread(tx, 'homelab', now))).toBe(ID)
  }
  expect(await listThreads(store.db)).toMatchObject([{ id: ID, created_at: 1, status: 'sleeping', fence: 0 }])
  expect([mainThreadId('homelab'), agentOfThread(ID)]).toEqual([ID, 'homelab'])
})

test('promise 5: a claim excludes others until it is released or its lease is over, and counts up the fence', async () => {
  await using store = await openTempStore()
  await store.write(tx => ensureMainThread(tx, 'homelab', 0))
  expect(await claim(store, 'a', 0)).toBeUndefined()
  await store.write(tx => postItem(tx, ITEM))
  expect(await claim(store, 'a', 0)).toMatchObject({ fence: 1, lease_owner: 'a', status: 'active' })
  expect(await claim(store, 'b', 1_000)).toBeUndefined()
  expect(await claim(store, 'a', 1_000)).toBeUndefined()
  expect(await claim(store, 'b', 1_001)).toMatchObject({ fence: 2, lease_owner: 'b' })
  await store.write(tx => releaseThread(tx, { thread: ID, fence: 1, resting: 'sleeping' }, 1_002))
  expect(await claim(store, 'a', 1_003)).toBeUndefined()
  await store.write(tx => releaseThread(tx, { thread: ID, fence: 2, resting: 'waiting' }, 1_004))
  expect(await listThreads(store.db)).toMatchObject([
    { status: 'waiting', lease_owner: null, lease_until: null },
  ])
  expect(await claim(store, 'a', 1_005)).toMatchObject({ fence: 3 })
})

test('a start voids the leases of dead processes', async () => {
  await using store = await openTempStore()
  await store.write(tx => ensureMainThread(tx, 'homelab', 0))
  await store.write(tx => postItem(tx, ITEM))
  await claim(store, 'dead', 0)
  await store.write(voidLeases)
  expect(await claim(store, 'next', 1)).toMatchObject({ fence: 2, lease_owner: 'next' })
})

test('work is an unfinished cycle or something in the inbox', async () => {
  await using store = await openTempStore()
  const work = async () => [await hasWaiting(store.db, ID), await threadsWithWork(store.db)]
  await store.write(tx => ensureMainThread(tx, 'homelab', 0))
  await store.write(tx => ensureMainThread(tx, 'other', 0))
  expect(await work()).toEqual([false, []])
  await store.write(tx => postItem(tx, ITEM))
  expect(await work()).toEqual([true, [ID]])
  expect(await hasWaiting(store.db, 'thr_other')).toBe(false)
  await store.write(tx => tx.updateTable('inbox').set({ cycle_id: 'cyc_1' }).execute())
  expect(await work()).toEqual([false, []])
  const cycle = { id: 'cyc_1', thread_id: ID, fence: 1, reply_to: null, started_at: 0 }
  await store.write(tx => createCycle(tx, cycle))
  expect(await work()).toEqual([false, [ID]])
  await store.write(tx => endCycle(tx, 'cyc_1', { status: 'failed', at: 1 }))
  expect(await work()).toEqual([false, []])
})

test('the window moves', async () => {
  await using store = await openTempStore()
  await store.write(tx => ensureMainThread(tx, 'homelab', 0))
  await store.write(tx => moveWindow(tx, ID, 7))
  expect((await listThreads(store.db))[0]?.window_start).toBe(7)
})
