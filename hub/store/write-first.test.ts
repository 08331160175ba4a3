import type { KyselyPlugin } from 'kysely'
import { expect, test } from 'vitest'
import { openTempStore, type TempStore } from '../../tests/support/temp-store.ts'
import { createApproval, decideOpen, takeApproved } from './approvals.ts'
import { appendOnce } from './conversations.ts'
import { addDeadLetter, retryDeadLetter } from './dead-letters.ts'
import { eventsAfter, lockEvents, readEventFeed, recordEvent } from './events.ts'
import { countCrashRun, crashRuns } from './hub-state.ts'
import { postItem } from './inbox.ts'
import { planCalls, startCall } from './ledger.ts'
import { cancelSchedule, createSchedule } from './schedules.ts'
import { claimThread, ensureMainThread } from './threads.ts'
import type { Tx } from './writer.ts'

/*
 * Where several hubs share a store, what decides who does something is the statement that locks its row. A
 * transaction that reads first decides on what another one is just about to change.
 */

/** Fills a store with one of everything that can be taken. */
async function openFilled(): Promise<TempStore> {
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
    const call = { cycle_id: 'cyc_1', step: 1, position: 0, call_id: 'c', tool: 't', arguments: '{}' }
    await planCalls(tx, [
      { id: 'call', thread_id: 'thr_homelab', status: 'planned', created_at: 0, approval_id: null, ...call },
    ])
    const of = { thread_id: 'thr_homelab', cycle_id: 'cyc_1', agent: 'homelab', tool: 't', arguments: '{}' }
    const times = { created_at: 0, expires_at: 9 }
    const asked = { arguments_hash: '', reason: 'r', status: 'open' as const }
    await createApproval(tx, { id: 'apr', call_id: 'call', ...of, ...asked, ...times })
    await addDeadLetter(tx, {
      id: 'dl',
      cycle: 'cyc_1',
      thread: 'thr_homelab',
      agent: 'homelab',
      reason: 'r',
      error: { code: 'internal', message: 'm' },
      retryable: true,
      at: 0,
    })
    await createSchedule(tx, {
      id: 'sch',
      agent: 'homelab',
      thread_id: 'thr_homelab',
      kind: 'once',
      timezone: 'UTC',
      reason: 'r',
      next_run: 5,
      wake_on_events_json: '[]',
      status: 'active',
      created_by: 'agent',
      created_at: 0,
    })
  })
  return store
}

const said = { conversation: 'homelab', kind: 'user' as const, author: 'alex', text: 'hi', at: 1 }
const event = {
  source: 'metrics',
  type: 'cpu_high',
  key: '{}',
  payload_json: '{}',
  status: 'pending' as const,
  routed_to_json: '[]',
  note: null,
  at: 1,
  received_at: 1,
  repeats: 0,
  release_at: null,
  is_storm: 0,
}
const approve = { status: 'approved' as const, at: 1, by: 'alex', where: 'web', note: null }

const takers: Record<string, (tx: Tx) => Promise<unknown>> = {
  'a thread': tx => claimThread(tx, { id: 'thr_homelab', owner: 'a', until: 9, now: 0 }),
  'an event': tx => recordEvent(tx, { ...event, id: 'e', external_id: '1' }),
  'the feed of events': lockEvents,
  'a message with the id of its client': tx =>
    appendOnce(tx, { ...said, id: 'm', token: 'owner', clientId: '1' }),
  'an item of the inbox': tx =>
    postItem(tx, {
      thread: 'thr_homelab',
      source: 's',
      externalId: '2',
      payload: { kind: 'notice', text: 'y' },
      power: 'routine',
      at: 0,
    }),
  'a planned call': tx => startCall(tx, 'call', 1),
  'an approval that is decided': tx => decideOpen(tx, 'apr', approve),
  'an approved call': async tx => takeApproved(tx, { id: 'apr', owner: 'a', until: 9, now: 1 }),
  'a schedule': tx => cancelSchedule(tx, 'sch', { from: ['active'] }),
  'a dead letter': tx => retryDeadLetter(tx, 'dl', 'alex', 1),
  'a count of the hub': countCrashRun,
}

test.for(Object.entries(takers))(
  '%s is taken by a statement that writes, before anything is read',
  async ([, take]) => {
    await using store = await openFilled()
    const kinds: unknown[] = []
    const nodes = new WeakMap<object, string>()
    const recorder: KyselyPlugin = {
      transformQuery({ node, queryId }) {
        nodes.set(queryId, 'sqlFragments' in node ? node.sqlFragments.join('?').trim() : node.kind)
        return node
      },
      async transformResult({ result, queryId }) {
        kinds.push(nodes.get(queryId))
        return result
      },
    }
    await store.write(async tx => take(tx.withPlugin(recorder) as Tx))
    expect(kinds[0]).toMatch(/^((Update|Insert)QueryNode$|(update|insert) )/)
  },
)

test('an approved call is taken by one process, until its lease is over or it has its answer', async () => {
  await using store = await openFilled()
  const take = (owner: string, now: number) =>
    store.write(tx => takeApproved(tx, { id: 'apr', owner, until: now + 10, now }))
  expect(await take('a', 1)).toBeUndefined()
  await store.write(tx => decideOpen(tx, 'apr', approve))
  expect(await take('a', 2)).toMatchObject({ id: 'apr', lease_owner: 'a', lease_until: 12 })
  expect([await take('b', 3), await take('a', 12)]).toEqual([undefined, undefined])
  expect(await take('b', 13)).toMatchObject({ lease_owner: 'b' })
  await store.write(tx => tx.updateTable('approvals').set({ answered_at: 14 }).execute())
  expect(await take('c', 99)).toBeUndefined()
})

test('who starts a call learns whether it was the one', async () => {
  await using store = await openFilled()
  const start = () => store.write(tx => startCall(tx, 'call', 1))
  expect([await start(), await start()]).toEqual([true, false])
})

test('a message that its client repeats is the one that is there, and takes no seq', async () => {
  await using store = await openFilled()
  const post = (id: string, clientId: string) =>
    store.write(tx => appendOnce(tx, { ...said, id, token: 'owner', clientId }))
  const [first, again, next] = [await post('a', '1'), await post('b', '1'), await post('c', '2')]
  expect(first).toMatchObject({ isNew: true, posted: { id: 'a', seq: 1 } })
  expect(again).toEqual({ isNew: false, posted: first.posted })
  expect(next).toMatchObject({ isNew: true, posted: { id: 'c', seq: 2 } })
})

test('an event that comes again takes no seq', async () => {
  await using store = await openFilled()
  const record = (id: string, externalId: string) =>
    store.write(tx => recordEvent(tx, { ...event, id, external_id: externalId }))
  expect([await record('a', '1'), await record('b', '1'), await record('c', '2')]).toEqual([
    true,
    false,
    true,
  ])
  expect((await eventsAfter(store.db, 0, 9)).map(({ id, seq }) => [id, seq])).toEqual([
    ['a', 1],
    ['c', 2],
  ])
  expect((await readEventFeed(store.db)).lastSeq).toBe(2)
})

test('crashes in a row are counted in one statement', async () => {
  await using store = await openFilled()
  for (const _ of [1, 2]) await store.write(countCrashRun)
  expect(await crashRuns(store.db)).toBe(2)
})
