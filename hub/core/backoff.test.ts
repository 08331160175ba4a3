import { expect, test } from 'vitest'
import { decideBackoff } from './backoff.ts'

const WAITS = { first: 500, longest: 60_000 }

test('the wait doubles up to the longest, and chance takes away up to a quarter', () => {
  const waits = [1, 2, 3, 4, 8, 9, 1_000].map(tries => decideBackoff(tries, WAITS))
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 60_000, 60_000, 60_000])
  expect(decideBackoff(1, WAITS, () => 0)).toBe(375)
  expect(decideBackoff(9, WAITS, () => 0)).toBe(45_000)
})
