import { expect, test } from 'vitest'
import { createRestartLimit, decideRestart, MOST_RESTARTS } from './restarts.ts'

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
