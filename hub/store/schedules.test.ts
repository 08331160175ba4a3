import { expect, test } from 'vitest'
import { openTempStore, type TempStore } from '../../tests/support/temp-store.ts'
import {
  activeSchedulesOf,
  advanceSchedule,
  cancelSchedule,
  changeSchedule,
  createSchedule,
  dueSchedules,
  findSchedule,
  firedSchedules,
  holdSchedules,
  listSchedules,
  nextDue,
  schedulesOfFiles,
  schedulesWaitingForEvents,
} from './schedules.ts'
import type { ScheduleRow } from './tables.ts'

const row = (id: string, nextRun: number | null, over: Partial<ScheduleRow> = {}): ScheduleRow => ({
  id,
  agent: 'homelab',
  thread_id: 'thr_homelab',
  kind: 'once',
  cron: null,
  timezone: 'UTC',
  reason: id,
  next_run: nextRun,
  wake_on_events_json: '[]',
  conversation_id: null,
  status: 'active',
  created_by: 'agent',
  created_at: 0,
  last_run: null,
  missed: 'latest',
  power: 'routine',
  read_foreign: 0,
  ...over,
})

async function openWith(...rows: ScheduleRow[]): Promise<TempStore> {
  const store = await openTempStore()
  for (const each of rows) await store.write(tx => createSchedule(tx, each))
  return store
}
const ids = (rows: ScheduleRow[]) => rows.map(({ id }) => id)

test('what is due, and when the next one is: active ones with a time alone', async () => {
  await using store = await openWith(
    row('later', 30),
    row('second', 20),
    row('first', 10),
    row('event', null, { wake_on_events_json: '["x"]' }),
    row('held', 1, { status: 'held' }),
    row('done', 1, { status: 'done' }),
  )
  expect(ids(await store.write(tx => dueSchedules(tx, 20, 9)))).toEqual(['first', 'second'])
  expect(ids(await store.write(tx => dueSchedules(tx, 20, 1)))).toEqual(['first'])
  expect(await nextDue(store.db)).toBe(10)
  expect(ids(await store.write(schedulesWaitingForEvents))).toEqual(['event'])
  await store.write(tx => advanceSchedule(tx, row('first', 10), 10, undefined))
  await store.write(tx => advanceSchedule(tx, row('second', 20), 20, 40))
  expect(await findSchedule(store.db, 'first')).toMatchObject({
    status: 'done',
    next_run: null,
    last_run: 10,
  })
  expect(await findSchedule(store.db, 'second')).toMatchObject({
    status: 'active',
    next_run: 40,
    last_run: 20,
  })
  expect(await nextDue(store.db)).toBe(30)
})

test('without any there is no next one', async () => {
  await using store = await openWith(row('event', null))
  expect(await nextDue(store.db)).toBeUndefined()
  expect(await findSchedule(store.db, 'none')).toBeUndefined()
})

test('lists: all pending of one agent or of all; the active ones of a thread; those of a file, ended too', async () => {
  await using store = await openWith(
    row('b', 20),
    row('a', 20),
    row('other', 10, { agent: 'other', thread_id: 'thr_other' }),
    row('held', 5, { status: 'held' }),
    row('cancelled', 1, { status: 'cancelled', created_by: 'file' }),
  )
  expect(ids(await listSchedules(store.db))).toEqual(['held', 'other', 'a', 'b'])
  expect(ids(await listSchedules(store.db, 'homelab'))).toEqual(['held', 'a', 'b'])
  expect(ids(await activeSchedulesOf(store.db, 'thr_homelab'))).toEqual(['a', 'b'])
  const ofFiles = await store.write(schedulesOfFiles)
  expect([...ofFiles].map(([agent, rows]) => [agent, ids(rows)])).toEqual([['homelab', ['cancelled']]])
})

test('what fired is listed with what is over, the newest first', async () => {
  await using store = await openWith(
    row('never', 20),
    row('once', null, { status: 'done', last_run: 10 }),
    row('other', null, { agent: 'b', status: 'done', last_run: 12 }),
    row('daily', 40, { kind: 'cron', last_run: 20 }),
  )
  const fired = async (limit: number, agent?: string) =>
    (await firedSchedules(store.db, limit, agent)).map(({ id }) => id)
  expect(await fired(9)).toEqual(['daily', 'other', 'once'])
  expect(await fired(1)).toEqual(['daily'])
  expect(await fired(9, 'b')).toEqual(['other'])
})

test('a schedule that is not as it was read any more neither runs nor changes, and the caller learns it', async () => {
  const read = row('a', 20)
  await using store = await openWith(read)
  const advance = () => store.write(tx => advanceSchedule(tx, read, 20, 40))
  expect([await advance(), await advance()]).toEqual([true, false])
  expect(await findSchedule(store.db, 'a')).toMatchObject({ status: 'active', next_run: 40, last_run: 20 })
  const cancel = (thread?: string) =>
    store.write(tx => cancelSchedule(tx, 'a', { from: ['active'], ...(thread ? { thread } : {}) }))
  expect(await cancel('thr_other')).toBeUndefined()
  expect(await cancel()).toMatchObject({ id: 'a', status: 'cancelled', next_run: 40 })
  expect(await cancel()).toBeUndefined()
  expect(await store.write(tx => advanceSchedule(tx, row('a', 40), 40, undefined))).toBe(false)
  const change = (status: ScheduleRow['status']) =>
    store.write(tx => changeSchedule(tx, { id: 'a', status }, { status: 'active', next_run: 50 }))
  expect([await change('done'), await change('cancelled')]).toEqual([false, true])
  expect(await findSchedule(store.db, 'a')).toMatchObject({ status: 'active', next_run: 50 })
})

test('schedules are held and freed with their agents; others than active ones stay as they are', async () => {
  await using store = await openWith(
    row('a', 1),
    row('done', 1, { status: 'done' }),
    row('b', 1, { agent: 'b' }),
  )
  const statuses = async () =>
    (await store.db.selectFrom('schedules').select('status').orderBy('id').execute()).map(each => each.status)
  await store.write(tx => holdSchedules(tx, { came: [], went: ['homelab'] }))
  expect(await statuses()).toEqual(['held', 'active', 'done'])
  await store.write(tx => holdSchedules(tx, { came: [], went: ['b'] }))
  expect(await statuses()).toEqual(['held', 'held', 'done'])
  await store.write(tx => holdSchedules(tx, { came: ['homelab', 'b'], went: [] }))
  expect(await statuses()).toEqual(['active', 'active', 'done'])
})
