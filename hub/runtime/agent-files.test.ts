import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { openTempStore, type TempStore } from '../../tests/support/temp-store.ts'
import { cancelSchedule } from '../store/schedules.ts'
import { applyAgentFiles, type FileAgent } from './agent-files.ts'

const report = { cron: '0 8 * * *', reason: 'report' }
const backup = { cron: '0 3 * * 0', timezone: 'America/New_York', reason: 'backup' }

async function openFiles() {
  const store = await openTempStore()
  const clock = createFakeClock()
  const apply = (...agents: FileAgent[]) =>
    applyAgentFiles({ store, clock, timezone: 'Europe/Berlin' }, agents)
  return { store, clock, apply, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}

const schedules = async ({ store }: { store: TempStore }) => {
  const rows = await store.db.selectFrom('schedules').selectAll().orderBy('reason').execute()
  return rows.map(({ reason, status, next_run: next }) => [
    reason,
    status,
    next === null ? null : new Date(next).toISOString().slice(0, 16),
  ])
}

test('schedules follow the file, and reading it again changes nothing', async () => {
  await using files = await openFiles()
  await files.apply({ name: 'homelab', schedules: [report, backup] })
  const first = await schedules(files)
  expect(first).toEqual([
    ['backup', 'active', '2026-11-22T08:00'],
    ['report', 'active', '2026-11-22T07:00'],
  ])
  files.clock.advance(60_000)
  await files.apply({ name: 'homelab', schedules: [report, backup] })
  expect(await schedules(files)).toEqual(first)
  await files.apply({ name: 'homelab', schedules: [backup] })
  expect((await schedules(files)).map(([, status]) => status)).toEqual(['active', 'done'])
})

test('a line that comes back is active again from now on, even one that was cancelled before', async () => {
  await using files = await openFiles()
  await files.apply({ name: 'homelab', schedules: [report] })
  const { id } = await files.store.db.selectFrom('schedules').select('id').executeTakeFirstOrThrow()
  await files.store.write(tx => cancelSchedule(tx, id, { from: ['active'] }))
  await files.apply({ name: 'homelab', schedules: [report] })
  expect((await schedules(files))[0]?.[1]).toBe('cancelled')
  await files.apply({ name: 'homelab', schedules: [] })
  files.clock.jump(3 * 24 * 3_600_000)
  await files.apply({ name: 'homelab', schedules: [report] })
  expect(await schedules(files)).toEqual([['report', 'active', '2026-11-25T07:00']])
})

test('the same line twice is one schedule, and one that never comes is none', async () => {
  await using files = await openFiles()
  const past = { cron: '0 0 8 1 1 * 2020', reason: 'past' }
  await files.apply({ name: 'homelab', schedules: [report, report, past] })
  expect((await schedules(files)).map(([reason]) => reason)).toEqual(['report'])
})

test('an occurrence that was missed stays due, even the last one that there is', async () => {
  await using files = await openFiles()
  const once = { cron: '0 0 8 1 12 * 2026', timezone: 'UTC', reason: 'once' }
  await files.apply({ name: 'homelab', schedules: [once] })
  files.clock.jump(60 * 24 * 3_600_000)
  await files.apply({ name: 'homelab', schedules: [once] })
  expect(await schedules(files)).toEqual([['once', 'active', '2026-12-01T08:00']])
})

test('an agent whose file goes retires with its schedules, and is back with them', async () => {
  await using files = await openFiles()
  const a = { name: 'a', schedules: [report] }
  const b = { name: 'b', schedules: [backup] }
  expect(await files.apply(a, b)).toEqual({ retired: [] })
  expect(await files.apply(b)).toEqual({ retired: ['a'] })
  expect((await schedules(files)).map(([, status]) => status)).toEqual(['active', 'held'])
  expect(await files.apply()).toEqual({ retired: ['a', 'b'] })
  expect(await files.apply(a, b)).toEqual({ retired: [] })
  expect((await schedules(files)).map(([, status]) => status)).toEqual(['active', 'active'])
})

test('a policy for missed times that changes keeps the schedule and its next time', async () => {
  await using files = await openFiles()
  const rows = () =>
    files.store.db.selectFrom('schedules').select(['id', 'missed', 'next_run', 'status']).execute()
  await files.apply({ name: 'homelab', schedules: [report] })
  const [first] = await rows()
  expect(first).toMatchObject({ missed: 'latest', status: 'active' })
  files.clock.advance(60_000)
  await files.apply({ name: 'homelab', schedules: [{ ...report, missed: 'all' }] })
  expect(await rows()).toEqual([{ ...first, missed: 'all' }])
  await files.apply({ name: 'homelab', schedules: [] })
  await files.apply({ name: 'homelab', schedules: [{ ...report, missed: 'skip' }] })
  expect(await rows()).toEqual([{ ...first, missed: 'skip' }])
})
