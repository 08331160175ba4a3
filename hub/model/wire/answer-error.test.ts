import { describe, expect, it } from 'vitest'
import { toRetryAfter } from './answer-error.ts'

const NOW = Date.parse('2026-11-21T22:00:00Z')

describe('toRetryAfter', () => {
  it.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after-ms': '1500', 'retry-after': '7' }, 1_500],
    [{ 'retry-after-ms': 'soon', 'retry-after': '7' }, 7_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 22:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 21:00:00 GMT' }, 0],
    [{ 'retry-after': 'Sat, 21 Foo 2026 22:00:30 GMT' }, undefined],
    [{ 'retry-after': '-3' }, undefined],
    [{ 'retry-after': 'later' }, undefined],
    [{}, undefined],
  ])('of %j is %j', (headers, expected) => {
    expect(toRetryAfter(new Headers(headers), {}, NOW)).toBe(expected)
  })

  it("of Google's error is its RetryInfo", () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.Help' }, { retryDelay: '34.07s' }]
    expect(toRetryAfter(new Headers(), { code: 429, details }, NOW)).toBe(34_070)
  })
})
