import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import { createFakeMachine, fakeCounters, fakeDisk, GIB } from '../testing/fake-machine.ts'
import { openHistory } from './history.ts'
import { createMeasure, MEASURE_EVERY } from './measure.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const START = Date.parse('2026-11-22T04:00:00Z')
const quiet = () => undefined

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-history-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a host is measured at most once a minute, the CPU over the time in between', async () => {
  const clock = createFakeClock(START)
  using history = openHistory(undefined, clock, quiet)
  let busy = 0
  const machine = createFakeMachine({
    counters: async () => fakeCounters(clock.monotonic(), busy, clock.monotonic()),
    memory: async () => ({ totalBytes: 4 * GIB, availableBytes: GIB }),
    disks: async () => ({ disks: [fakeDisk({ mount: '/srv', percent: 41.26 })], silent: [] }),
    temperatures: async () =>
      Array.from({ length: 20 }, (_, core) => ({ sensor: `Core ${core}`, celsius: 40 + core })),
  })
  const measure = createMeasure('nas', machine, history)
  await clock.advance(MINUTE)
  await measure()
  busy = 30_000
  await clock.advance(MEASURE_EVERY - 1)
  await measure()
  await clock.advance(5_001)
  await measure()
  const { from, step, curves } = history.read('nas', 'hour')
  expect([from, step]).toEqual([START - 57 * MINUTE, MINUTE])
  const last = curves.map(({ kind, name, values }) => [kind, name, ...values.slice(-2)])
  expect(last.slice(0, 4)).toEqual([
    ['cpu', '', null, 50],
    ['memory', '', 75, 75],
    ['disk', '/srv', 41.3, 41.3],
    ['temperature', 'Core 0', 40, 40],
  ])
  expect(last).toHaveLength(3 + 12)
  expect(history.read('other', 'hour').curves).toEqual([])
})

test('a day has means of ten minutes, a week those of hours, and nothing grows', async () => {
  const clock = createFakeClock(START)
  const file = join(folder, 'history.json')
  using history = openHistory(file, clock, quiet)
  for (let minute = 0; minute < 8 * 24 * 60; minute++) {
    history.add('nas', [{ kind: 'cpu', name: '', value: minute % 10 }])
    await clock.advance(MINUTE)
  }
  const [day] = history.read('nas', 'day').curves
  expect(day?.values).toHaveLength(144)
  expect(day?.values.slice(2, 140)).toEqual(Array(138).fill(4.5))
  const [week] = history.read('nas', 'week').curves
  expect(week?.values).toHaveLength(168)
  expect(week?.values.slice(0, 167)).toEqual(Array(167).fill(4.5))
  expect(statSync(file).size).toBeLessThan(12_000)
})

test('a history is there again after a restart, and after a crash but the last quarter of an hour', async () => {
  const clock = createFakeClock(START)
  const file = join(folder, 'deep', 'history.json')
  const measured = [{ kind: 'disk' as const, name: '/', value: 12 }]
  const crashed = openHistory(file, clock, quiet)
  for (let minute = 0; minute < 20; minute++) {
    crashed.add('nas', measured)
    await clock.advance(MINUTE)
  }
  {
    using again = openHistory(file, clock, quiet)
    const known = again.read('nas', 'hour').curves[0]?.values.filter(value => value !== null)
    expect(known).toEqual(Array(16).fill(12))
    again.add('nas', [{ kind: 'disk', name: '/', value: 14 }])
  }
  const last = openHistory(file, clock, quiet).read('nas', 'hour').curves[0]?.values
  expect(last?.at(-1)).toBe(14)
})

test('a curve that nothing was added to for a week is forgotten, and a damaged file is named and replaced', async () => {
  const clock = createFakeClock(START)
  const file = join(folder, 'history.json')
  writeFileSync(file, '{"curves": [{')
  const logged: unknown[] = []
  {
    using history = openHistory(file, clock, (...entry) => logged.push(entry))
    history.add('old', [{ kind: 'memory', name: '', value: 1 }])
    await clock.advance(169 * HOUR)
    history.add('nas', [{ kind: 'memory', name: '', value: 1 }])
  }
  expect(logged).toMatchObject([['warn', 'state could not be read', { file }]])
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ curves: [{ host: 'nas' }] })
})
