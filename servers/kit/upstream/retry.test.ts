import { expect, test } from 'vitest'
import { readRetryAfter } from './retry.ts'

const NOW = Date.parse('2026-11-22T04:36:47Z')

test.each([
  [null, undefined],
  ['2', 2000],
  ['Sun, 22 Nov 2026 04:37:17 GMT', 30_000],
  ['Sun, 22 Nov 2020 04:37:17 GMT', 0],
  ['Thu, 29 Feb 2028 00:00:00 GMT', Date.parse('2028-02-29') - NOW],
  ['soon', undefined],
])('Retry-After %j asks for %j ms', (header, wait) => {
  expect(readRetryAfter(header, NOW)).toBe(wait)
})
