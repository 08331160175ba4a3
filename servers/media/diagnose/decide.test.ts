import { expect, test } from 'vitest'
import { decideStages, type Facts, type ManagedFacts } from './decide.ts'

const NOW = Date.parse('2026-11-22T04:00:00Z')
const HOUR = 3_600_000
const known = <Value>(value: Value) => ({ known: true, value }) as const
const down = { known: false, why: 'it is down' } as const

const managed: ManagedFacts = {
  program: 'Radarr',
  isSeries: false,
  monitored: true,
  released: true,
  releaseAt: undefined,
  files: 0,
  wanted: 1,
  queue: [],
  grabbedAt: undefined,
  failure: undefined,
  indexers: known(2),
  complaints: [],
}
const download = { state: 'downloading', stuck: false, reason: undefined, percent: 45, isImporting: false }

function decide(change: Partial<ManagedFacts> | undefined, facts: Partial<Facts> = {}) {
  const arr = change && { ...managed, ...change }
  const none: Facts = {
    request: known(undefined),
    managed: known(arr),
    library: known(undefined),
    scanning: false,
  }
  const stages = decideStages({ ...none, ...facts }, NOW, 'UTC')
  expect(stages).toHaveLength(8)
  return { stages, stopped: stages.find(one => one.state === 'stopped' || one.state === 'waiting') }
}

test.each<[string, Partial<ManagedFacts> | undefined, Partial<Facts>, string, string, RegExp]>([
  [
    'a request waits for approval',
    undefined,
    { request: known({ state: 'pending', by: 'sam' }) },
    'requested',
    'stopped',
    /sam.*waits for approval/,
  ],
  [
    'a request was declined',
    undefined,
    { request: known({ state: 'declined', by: 'sam' }) },
    'requested',
    'stopped',
    /declined/,
  ],
  [
    'a request failed',
    undefined,
    { request: known({ state: 'failed', by: 'sam' }) },
    'requested',
    'stopped',
    /could not hand it/,
  ],
  ['nobody asked', undefined, {}, 'managed', 'stopped', /neither Radarr nor Sonarr/],
  [
    'it was approved but never came to Radarr',
    undefined,
    { request: known({ state: 'processing', by: 'sam' }) },
    'managed',
    'stopped',
    /neither/,
  ],
  ['it is not monitored', { monitored: false }, {}, 'monitored', 'stopped', /not monitored/],
  [
    'it is not out',
    { released: false, releaseAt: NOW + 48 * HOUR },
    {},
    'released',
    'waiting',
    /24 Nov 2026 04:00 UTC \(in 2 d 0 h\)/,
  ],
  ['there is no indexer', { indexers: known(0) }, {}, 'found', 'stopped', /no indexer is on/],
  [
    'nothing was found',
    { complaints: ['"Indexers are unavailable"'] },
    {},
    'found',
    'stopped',
    /no release was found that fits; Radarr says: "Indexers/,
  ],
  ['it downloads', { queue: [download] }, {}, 'downloaded', 'waiting', /downloading, 45 %/],
  [
    'the download is stuck',
    { queue: [{ ...download, stuck: true, reason: '"stalled"' }] },
    {},
    'downloaded',
    'stopped',
    /45 %, "stalled"/,
  ],
  [
    'the download failed',
    { grabbedAt: NOW - 2 * HOUR, failure: { at: NOW - HOUR, why: '"no articles"' } },
    {},
    'downloaded',
    'stopped',
    /failed 1 h 0 min ago: "no articles"/,
  ],
  [
    'a taken release vanished',
    { grabbedAt: NOW - HOUR },
    {},
    'downloaded',
    'stopped',
    /in no queue any more/,
  ],
  [
    'it cannot be imported',
    {
      queue: [
        { ...download, state: 'cannot be imported', stuck: true, reason: '"sample"', isImporting: true },
      ],
    },
    {},
    'imported',
    'stopped',
    /cannot be imported: "sample"/,
  ],
  [
    'it is about to be imported',
    { queue: [{ ...download, state: 'waiting to be imported', isImporting: true }] },
    {},
    'imported',
    'waiting',
    /waiting to be imported/,
  ],
  ['Jellyfin has not seen it', { files: 1 }, {}, 'in Jellyfin', 'stopped', /does not have it/],
  ['Jellyfin is scanning', { files: 1 }, { scanning: true }, 'in Jellyfin', 'waiting', /a scan is running/],
  [
    'a part of a series is missing',
    { isSeries: true, files: 3, wanted: 4 },
    { library: known({ count: 3, name: 'Jellyfin' }) },
    'found',
    'stopped',
    /1 of 4 monitored episodes missing/,
  ],
  [
    'Jellyfin lacks episodes',
    { isSeries: true, files: 4, wanted: 4 },
    { library: known({ count: 3, name: 'Jellyfin' }) },
    'in Jellyfin',
    'stopped',
    /3 of 4 files/,
  ],
])('where %s', (_what, arr, facts, stage, state, detail) => {
  const { stopped, stages } = decide(arr, facts)
  expect(stopped).toMatchObject({ stage, state, detail: expect.stringMatching(detail) })
  expect(stopped?.fix ?? 'none').not.toBe('none')
  const after = stages.slice(stages.findIndex(one => one.stage === stage) + 1)
  expect(after.every(one => ['not reached', 'ok', 'unknown'].includes(one.state))).toBe(true)
})

test('what Jellyfin has needs no request and no Radarr', () => {
  const there = { library: known({ count: 1, name: 'Jellyfin' }) }
  for (const arr of [undefined, { monitored: false }, { files: 1 }])
    expect(decide(arr, there).stopped).toBeUndefined()
})

test('what could not be asked is unknown, not missing', () => {
  const { stages, stopped } = decide(undefined, { request: down, managed: down, library: down })
  expect(stopped).toBeUndefined()
  expect(new Set(stages.map(({ state }) => state))).toEqual(new Set(['unknown']))
})

test('a request that waits does not matter once Radarr has it', () => {
  expect(
    decide({ queue: [download] }, { request: known({ state: 'pending', by: 'sam' }) }).stopped?.stage,
  ).toBe('downloaded')
})
