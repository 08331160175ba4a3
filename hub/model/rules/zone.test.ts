import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toIso } from '../../core/clock.ts'
import { addMonths, fromWall, toKnownZone, toWall, weekdayOf } from './zone.ts'

const wall = (text: string) => {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = text.split(/\D/).map(Number)
  return { year, month, day, hour, minute }
}

describe('fromWall', () => {
  it.each([
    ['Europe/Berlin', '2026-11-22 09:00', '2026-11-22T08:00:00Z'],
    ['Europe/Berlin', '2026-07-01 09:00', '2026-07-01T07:00:00Z'],
    ['Europe/Berlin', '2026-03-29 02:30', '2026-03-29T01:30:00Z'], // skipped: 03:30
    ['Europe/Berlin', '2026-10-25 02:30', '2026-10-25T00:30:00Z'], // twice: the first
    ['America/New_York', '2026-03-08 02:30', '2026-03-08T07:30:00Z'],
    ['America/New_York', '2026-11-01 01:30', '2026-11-01T05:30:00Z'],
    ['Australia/Lord_Howe', '2026-04-05 01:45', '2026-04-04T14:45:00Z'], // half an hour twice
    ['Asia/Kolkata', '2026-04-05 01:45', '2026-04-04T20:15:00Z'],
    ['Pacific/Kiritimati', '2026-01-01 00:00', '2025-12-31T10:00:00Z'],
  ])('%s %s is %s', (zone, text, expected) => {
    expect(toIso(fromWall(wall(text), zone) ?? 0)).toBe(expected)
  })

  it('knows no 30th of February', () => {
    expect(fromWall(wall('2026-02-30 09:00'), 'UTC')).toBeUndefined()
    expect(fromWall(wall('2028-02-29 09:00'), 'UTC')).toBeDefined()
  })

  it('finds back every minute that is there once', () => {
    const zones = fc.constantFrom(
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kolkata',
      'Pacific/Auckland',
      'UTC',
    )
    fc.assert(
      fc.property(zones, fc.integer({ min: 0, max: 60 * 24 * 365 * 60 }), (zone, minutes) => {
        const at = minutes * 60_000
        const back = fromWall(toWall(at, zone), zone) ?? 0
        expect(toWall(back, zone)).toEqual(toWall(at, zone))
        expect(at - back === 0 || at - back === 3_600_000).toBe(true)
      }),
    )
  })
})

it('adds months to the last day that there is', () => {
  expect(addMonths(wall('2026-01-31 08:00'), 1)).toEqual(wall('2026-02-28 08:00'))
  expect(addMonths(wall('2026-12-15 08:00'), 1)).toEqual(wall('2027-01-15 08:00'))
})

it('knows the day of the week', () => {
  expect(weekdayOf(wall('2026-11-22 23:59'))).toBe(0)
  expect(weekdayOf(wall('1969-12-31 00:00'))).toBe(3)
})

it('takes UTC for a zone that it does not know', () => {
  expect(toKnownZone('Mars/Olympus')).toBe('UTC')
})
