import { expect, test } from 'vitest'
import { toIsoTime } from '../kit/clock.ts'
import { addDays, toDay, toStartOfDay } from './moments.ts'

test.each([
  ['2026-11-22', 'UTC', '2026-11-22T00:00:00.000Z'],
  ['2026-11-22', 'Europe/Berlin', '2026-11-21T23:00:00.000Z'],
  ['2026-11-22', 'America/New_York', '2026-11-22T05:00:00.000Z'],
  ['2026-11-22', 'Pacific/Kiritimati', '2026-11-21T10:00:00.000Z'],
  ['2026-11-22', 'Asia/Kathmandu', '2026-11-21T18:15:00.000Z'],
  // Clocks go forward at midnight there, so the day begins at one.
  ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
  // Clocks go back within the day.
  ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00.000Z'],
])('%s begins in %s at %s', (day, timezone, at) => {
  const start = toStartOfDay(day, timezone)
  expect(toIsoTime(start)).toBe(at)
  expect([toDay(start, timezone), toDay(start - 1, timezone)]).toEqual([day, addDays(day, -1)])
})
