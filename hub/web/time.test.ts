import { describe, expect, test } from 'vitest'
import { count, dayAndTime, dayName, duration, relative } from './time.ts'

const NOW = new Date(2026, 10, 21, 12, 0).getTime()
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('in words', () => {
  test.each([
    [0, 'now'],
    [30 * SECOND, 'in 30 seconds'],
    [60 * SECOND, 'in 1 minute'],
    [2 * MINUTE, 'in 2 minutes'],
    [9 * HOUR, 'in 9 hours'],
    [3 * DAY, 'in 3 days'],
    [-5 * MINUTE, '5 minutes ago'],
  ])('%i ms from now is %s', (span, words) => {
    expect(relative(NOW + span, NOW)).toBe(words)
  })

  test.each([
    [0, '0 s'],
    [12 * SECOND, '12 s'],
    [5 * MINUTE, '5 min'],
    [3 * HOUR + 20 * MINUTE, '3 h 20 min'],
    [2 * DAY, '2 d'],
    [2 * DAY + 4 * HOUR, '2 d 4 h'],
  ])('a span of %i ms is %s', (span, words) => {
    expect(duration(span)).toBe(words)
  })

  test('days', () => {
    expect(dayName(NOW, NOW)).toBe('Today')
    expect(dayName(NOW - DAY, NOW)).toBe('Yesterday')
    expect(dayName(NOW - 3 * DAY, NOW)).toContain('November')
    expect(dayName(NOW - 400 * DAY, NOW)).toContain('2025')
    expect(dayAndTime(NOW + DAY, NOW)).toMatch(/^tomorrow /)
  })

  test('counts', () => {
    expect(count(1, 'tool')).toBe('1 tool')
    expect(count(12_400, 'token')).toBe('12,400 tokens')
  })
})
