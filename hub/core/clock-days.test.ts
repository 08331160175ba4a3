import { expect, test } from 'vitest'
import { dayOf, nextDayStart } from './clock.ts'

const cases = [
  ['an ordinary day', '2026-11-21T22:00:00Z', 'Europe/Berlin', '2026-11-21', '2026-11-21T23:00:00Z'],
  [
    'the minute before midnight',
    '2026-11-21T22:59:59Z',
    'Europe/Berlin',
    '2026-11-21',
    '2026-11-21T23:00:00Z',
  ],
  ['midnight itself', '2026-11-21T23:00:00Z', 'Europe/Berlin', '2026-11-22', '2026-11-22T23:00:00Z'],
  ['a day of 23 hours', '2026-03-28T23:30:00Z', 'Europe/Berlin', '2026-03-29', '2026-03-29T22:00:00Z'],
  ['a day of 25 hours', '2026-10-24T22:30:00Z', 'Europe/Berlin', '2026-10-25', '2026-10-25T23:00:00Z'],
  ['far east', '2026-11-21T12:00:00Z', 'Pacific/Auckland', '2026-11-22', '2026-11-22T11:00:00Z'],
  ['far west', '2026-11-21T06:00:00Z', 'America/Los_Angeles', '2026-11-20', '2026-11-21T08:00:00Z'],
  ['the end of a year', '2026-12-31T23:59:00Z', 'UTC', '2026-12-31', '2027-01-01T00:00:00Z'],
] as const

test.each(cases)('%s', (_name, at, zone, day, next) => {
  expect(dayOf(Date.parse(at), zone)).toBe(day)
  expect(nextDayStart(Date.parse(at), zone)).toBe(Date.parse(next))
})
