import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../../kit/testing/fake-clock.ts'
import { runWatcher } from '../../kit/watch.ts'
import { openState, type State, type TimedPause } from '../state.ts'
import { createFakeClient, type FakeClient } from '../testing/fake-client.ts'
import { watchTimedPauses } from './timed-pauses.ts'

const NOW = 1_000_000
let folder: string
let file: string
let clock: FakeClock
let fake: FakeClient
const ends: (() => void)[] = []
const logged: string[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'timed-pauses-'))
  file = join(folder, 'state/downloads.json')
  clock = createFakeClock(NOW)
  fake = createFakeClient()
  logged.length = 0
})
afterEach(() => {
  for (const end of ends.splice(0)) end()
  rmSync(folder, { recursive: true, force: true })
})

const log = (_level: string, event: string) => void logged.push(event)
function open(): State {
  const state = openState(file, log)
  for (const watcher of watchTimedPauses([fake], state, clock, log))
    ends.push(runWatcher(watcher, clock, log, () => 0.5))
  return state
}
function keep({ pauses, save }: State, pause: TimedPause): boolean {
  pauses.set('qbittorrent', pause)
  return save()
}

test('it goes on with what it stopped when the time is over, and once', async () => {
  const state = open()
  expect(keep(state, { until: NOW + 60_000, ids: ['a'] })).toBe(true)
  await clock.advance(59_000)
  expect(fake.resumed).toEqual([])
  await clock.advance(60_000)
  expect(fake.resumed).toEqual([['a']])
  expect(state.pauses.get('qbittorrent')).toBeUndefined()
  expect(readFileSync(file, 'utf8')).toBe('{"pauses":{},"added":{}}')
})

test('a restart does not lose it', async () => {
  keep(open(), { until: NOW + 60_000, ids: ['a'] })
  for (const end of ends.splice(0)) end()
  await clock.advance(120_000)
  open()
  await clock.advance(1)
  expect(fake.resumed).toEqual([['a']])
})

test('a client that is down then is asked again until it is up', async () => {
  const state = open()
  keep(state, { until: NOW + 5000, ids: ['a'] })
  fake.down = true
  await clock.advance(60_000)
  expect(state.pauses.get('qbittorrent')).toBeDefined()
  fake.down = false
  await clock.advance(5 * 60_000)
  expect(fake.resumed).toEqual([['a']])
  expect(logged).toEqual(['watcher failed, it goes on trying', 'timed pause is over', 'watcher works again'])
})

test('one that was cleared does not go on', async () => {
  const state = open()
  keep(state, { until: NOW + 5000, ids: ['a'] })
  state.pauses.delete('qbittorrent')
  await clock.advance(60_000)
  expect(fake.resumed).toEqual([])
})

test('without a file, or with one that cannot be written, it is kept in memory, and that is said', async () => {
  writeFileSync(join(folder, 'a-file'), '')
  const state = openState(join(folder, 'a-file/state.json'), log)
  expect(keep(state, { until: NOW + 5000, ids: ['a'] })).toBe(false)
  expect(state.pauses.get('qbittorrent')).toEqual({ until: NOW + 5000, ids: ['a'] })
  expect(keep(openState(undefined, log), { until: 1, ids: [] })).toBe(false)
})

test('a file that is damaged is told of and begun anew', () => {
  writeFileSync(join(folder, 'broken.json'), '{"pauses": {"x": 1}}')
  expect(openState(join(folder, 'broken.json'), log).pauses.get('x')).toBeUndefined()
  expect(logged).toEqual(['state could not be read'])
})
