import { expect, test } from 'vitest'
import type { HistoryContent } from '../../schemas/inbox.ts'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { appendHistory, fencedWrite, readHistory } from './history.ts'
import { postItem } from './inbox.ts'
import { claimThread, ensureMainThread } from './threads.ts'

const said = (text: string): HistoryContent => ({ role: 'assistant', text, calls: [] })
const fenced = { thread: 'thr_homelab', cycle: 'cyc_1', fence: 1 }

async function openThread() {
  const store = await openTempStore()
  await store.write(async tx => {
    await ensureMainThread(tx, 'homelab', 0)
    const payload = { kind: 'notice' as const, text: 'x' }
    await postItem(tx, {
      thread: 'thr_homelab',
      source: 's',
      externalId: '1',
      payload,
      power: 'routine',
      at: 0,
    })
    await claimThread(tx, { id: 'thr_homelab', owner: 'a', until: 10, now: 0 })
  })
  return store
}

test('history is appended without gaps and read back from a place on', async () => {
  await using store = await openThread()
  const append = (...texts: string[]) =>
    store.write(async tx => {
      const last = await fencedWrite(tx, fenced, texts.length, 99, 7)
      return appendHistory(tx, fenced, last, 1, texts.map(said), 7)
    })
  expect(await append('a', 'b')).toEqual([
    { seq: 2, content: said('a') },
    { seq: 3, content: said('b') },
  ])
  expect(await append()).toEqual([])
  await append('c')
  expect(await readHistory(store.db, 'thr_homelab', 3)).toEqual([
    { seq: 3, content: said('b'), form: 'whole' },
    { seq: 4, content: said('c'), form: 'whole' },
  ])
  const thread = await store.db.selectFrom('threads').selectAll().executeTakeFirstOrThrow()
  expect(thread).toMatchObject({ last_seq: 4, lease_until: 99, updated_at: 7 })
})

test('promise 5: a write with an old fence is refused, and nothing of it stays', async () => {
  await using store = await openThread()
  await store.write(tx => claimThread(tx, { id: 'thr_homelab', owner: 'b', until: 99, now: 11 }))
  const late = store.write(async tx => {
    await tx.insertInto('agents').values({ name: 'x', retired_at: null, created_at: 0 }).execute()
    await fencedWrite(tx, fenced, 1, 99, 12)
  })
  await expect(late).rejects.toMatchObject({ code: 'conflict' })
  expect(await store.db.selectFrom('agents').selectAll().execute()).toEqual([])
  expect(await store.db.selectFrom('threads').select(['last_seq', 'lease_until']).execute()).toEqual([
    { last_seq: 2, lease_until: 99 },
  ])
})

test('content that is no history is refused where it is read', async () => {
  await using store = await openThread()
  const row = { thread_id: 'thr_homelab', seq: 1, cycle_id: 'c', step: 0, created_at: 0 }
  await store.write(tx =>
    tx
      .insertInto('history')
      .values({ ...row, content_json: '{"role":"judge"}' })
      .execute(),
  )
  await expect(readHistory(store.db, 'thr_homelab', 1)).rejects.toThrow()
})
