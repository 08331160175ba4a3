import { expect, test } from 'vitest'
import { createRestartLimit, decideBackoff, decideRestart, MOST_RESTARTS } from './backoff.ts'

test('the wait doubles up to a minute, with jitter below', () => {
  const waits = [1, 2, 3, 4, 8, 9, 100].map(tries => decideBackoff(tries, () => 1))
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 60_000, 60_000, 60_000])
  expect(decideBackoff(1, () => 0)).toBe(375)
})

test.each([
  ['nothing before', [], 1_000, { wait: 500, capped: false }],
  ['nine before', [1, 2, 3, 4, 5, 6, 7, 8, 9], 1_000, { wait: 500, capped: false }],
  ['ten within the minute', [0, 2, 3, 4, 5, 6, 7, 8, 9, 10], 1_000, { wait: 59_000, capped: true }],
  ['the first of ten a minute ago', [0, 2, 3, 4, 5, 6, 7, 8, 9, 10], 59_800, { wait: 500, capped: false }],
] as const)('restarts: %s', (_what, restarts, now, decided) => {
  expect(decideRestart(restarts, now, 500)).toEqual(decided)
})

test('whoever asks at once gets no more than the cap in any minute', () => {
  const limit = createRestartLimit()
  let now = 0
  const at = Array.from({ length: 35 }, () => {
    now += limit.next(now, 100).wait
    return now
  })
  for (const start of at) {
    expect(at.filter(one => one >= start && one < start + 60_000).length).toBeLessThanOrEqual(MOST_RESTARTS)
  }
})
