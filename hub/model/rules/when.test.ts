import { Cron } from 'croner'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromIso, toIso, toLocal } from '../../core/clock.ts'
import { readWhen, toDelay } from './when.ts'

const NOW = fromIso('2026-11-21T22:40:00Z') ?? 0 // Sat 23:40 in Berlin

function read(text: string, { now = NOW, timezone = 'Europe/Berlin', bare = false } = {}): string {
  const when = readWhen(text, { now, timezone, bare })?.when
  switch (when?.kind) {
    case undefined:
      return '-'
    case 'at':
      return toLocal(when.at, timezone)
    case 'delay':
      return when.delay
    case 'cron':
      return when.cron
    default:
      return 'refused'
  }
}

describe('spans', () => {
  it.each([
    ['remind me in 2 minutes to check the disks', '2m'],
    ['in an hour look', '1h'],
    ['in half an hour', '30m'],
    ['in an hour and a half', '90m'],
    ['in two and a half hours', '150m'],
    ['in 1h30m', '90m'],
    ['in 2 hours and 15 minutes', '135m'],
    ['in 1.5 hours', '90m'],
    ['in three quarters of an hour', '45m'],
    ['in a quarter of an hour', '15m'],
    ['in 90 seconds', '90s'],
    ['in forty five minutes', '45m'],
    ['in a couple of days', '2d'],
    ['in 2 weeks', '14d'],
    ['20 minutes from now', '20m'],
    ['look at 3 servers in 5 minutes', '5m'],
    ['in a month', 'Mon 2026-12-21 23:40'],
    ['in 99999999999 days', 'refused'],
    ['in an hour and a quarter', '75m'],
    ['in a month and a half', 'Thu 2027-01-21 23:40'],
    ['in the last hour', '-'],
  ])('%s → %s', (text, expected) => {
    expect(read(text)).toBe(expected)
  })

  it('writes the largest unit that says it exactly', () => {
    expect([90_000, 120_000, 5_400_000, 7_200_000, 86_400_000].map(toDelay)).toEqual([
      '90s',
      '2m',
      '90m',
      '2h',
      '1d',
    ])
  })
})

describe('points in time', () => {
  it.each([
    ['at 18:30', 'Sun 2026-11-22 18:30'],
    ['at 23:50', 'Sat 2026-11-21 23:50'],
    ['at 6pm', 'Sun 2026-11-22 18:00'],
    ['at 12 am', 'Sun 2026-11-22 00:00'],
    ['at 9 to feed the cat', 'Sun 2026-11-22 09:00'],
    ['at 9 how is the machine?', 'Sun 2026-11-22 09:00'],
    ['at 9 servers', '-'],
    ['at noon', 'Sun 2026-11-22 12:00'],
    ['at quarter to 8', 'Sun 2026-11-22 07:45'],
    ['tomorrow', 'Sun 2026-11-22 09:00'],
    ['tomorrow at 9 check the backups', 'Sun 2026-11-22 09:00'],
    ['tomorrow morning', 'Sun 2026-11-22 08:00'],
    ['tomorrow at 7 in the evening', 'Sun 2026-11-22 19:00'],
    ['the day after tomorrow at noon', 'Mon 2026-11-23 12:00'],
    ['on Monday at 8', 'Mon 2026-11-23 08:00'],
    ['next saturday', 'Sat 2026-11-28 09:00'],
    ['on saturday at 23:50', 'Sat 2026-11-21 23:50'],
    ['on saturday at 10', 'Sat 2026-11-28 10:00'],
    ['in 3 days at 9', 'Tue 2026-11-24 09:00'],
    ['on 24 December at 18:00', 'Thu 2026-12-24 18:00'],
    ['December 24th', 'Thu 2026-12-24 09:00'],
    ['on 3 March 2028', 'Fri 2028-03-03 09:00'],
    ['on the 5th at 8', 'Sat 2026-12-05 08:00'],
    ['on the 31st', 'Thu 2026-12-31 09:00'],
    ['on 2026-12-01 at 10:15', 'Tue 2026-12-01 10:15'],
    ['at 2026-12-01T10:15', 'Tue 2026-12-01 10:15'],
    ['at 2026-12-01T10:15:00Z', 'Tue 2026-12-01 11:15'],
    ['today at 9', 'refused'],
    ['31 february', 'refused'],
    ['buy 2 disks', '-'],
  ])('%s → %s', (text, expected) => {
    expect(read(text)).toBe(expected)
  })

  it.each([
    ['5 minutes', '5m'],
    ['9', 'Sun 2026-11-22 09:00'],
    ['18:30', 'Sun 2026-11-22 18:30'],
    ['monday', 'Mon 2026-11-23 09:00'],
    ['every day at 8', '0 8 * * *'],
    ['banana', '-'],
  ])('the bare answer %s → %s', (text, expected) => {
    expect(read(text, { bare: true })).toBe(expected)
  })
})

describe('zones and the days on which clocks change', () => {
  it.each([
    ['Europe/Berlin', '2026-10-24T10:00:00Z', 'tomorrow at 9', '2026-10-25T08:00:00Z'],
    ['Europe/Berlin', '2026-03-28T21:00:00Z', 'at 02:30', '2026-03-29T01:30:00Z'],
    ['Europe/Berlin', '2026-10-24T21:00:00Z', 'at 02:30', '2026-10-25T00:30:00Z'],
    ['America/New_York', '2026-03-07T20:00:00Z', 'tomorrow at 8', '2026-03-08T12:00:00Z'],
    ['America/New_York', '2026-11-22T03:00:00Z', 'at 23:00', '2026-11-22T04:00:00Z'],
    ['Asia/Kolkata', '2026-11-21T22:40:00Z', 'today at 18:30', '2026-11-22T13:00:00Z'],
    ['Pacific/Auckland', '2026-11-21T22:40:00Z', 'on Monday at 8', '2026-11-22T19:00:00Z'],
    ['Nowhere/Land', '2026-11-21T22:40:00Z', 'at 23:00', '2026-11-21T23:00:00Z'],
  ])('%s at %s, %s → %s', (timezone, now, text, expected) => {
    const when = readWhen(text, { now: fromIso(now) ?? 0, timezone })?.when
    expect(when?.kind === 'at' && toIso(when.at)).toBe(expected)
  })
})

describe('rhythms', () => {
  it.each([
    ['every day at 8 check the disks', '0 8 * * *'],
    ['at 8 every day', '0 8 * * *'],
    ['daily at 7:15', '15 7 * * *'],
    ['every Monday at 9:30', '30 9 * * 1'],
    ['every mon, wed and fri at 7', '0 7 * * 1,3,5'],
    ['every 15 minutes', '*/15 * * * *'],
    ['every weekday at 7', '0 7 * * 1-5'],
    ['on weekdays at 7', '0 7 * * 1-5'],
    ['Mondays at 9', '0 9 * * 1'],
    ['every weekend at 10', '0 10 * * 0,6'],
    ['hourly', '0 * * * *'],
    ['every hour', '0 * * * *'],
    ['every half hour', '*/30 * * * *'],
    ['every minute', '* * * * *'],
    ['every 2 hours', '0 */2 * * *'],
    ['every other hour', '0 */2 * * *'],
    ['every morning', '0 8 * * *'],
    ['every evening at 8', '0 20 * * *'],
    ['every day at noon', '0 12 * * *'],
    ['every day at 8 and 20', '0 8,20 * * *'],
    ['every month on the 5th at 8', '0 8 5 * *'],
    ['on the 5th of every month at 8', '0 8 5 * *'],
    ['every 1st of the month', '0 9 1 * *'],
    ['every week on friday at 17:00', '0 17 * * 5'],
    ['every hour between 9 and 17', '0 9-17 * * *'],
    ['every 15 minutes from 9 to 17 on weekdays', '*/15 9-16 * * 1-5'],
    ['everyday at 8 check the disks', '0 8 * * *'],
    ['once a day', '0 9 * * *'],
    ['every couple of hours', '0 */2 * * *'],
    ['every 2 hours from 9 to 17', '0 9-17/2 * * *'],
    ['every 90 minutes', 'refused'],
    ['every 1.5 hours', 'refused'],
    ['every hour and a half', 'refused'],
    ['every 1h30m', 'refused'],
    ['every two and a half hours', 'refused'],
    ['every half month', 'refused'],
    ['twice a day', 'refused'],
    ['every 45 minutes', 'refused'],
    ['every 5 hours', 'refused'],
    ['every other day', 'refused'],
    ['every 30 seconds', 'refused'],
    ['every year', 'refused'],
    ['every day at 8:00 and 20:30', 'refused'],
  ])('%s → %s', (text, expected) => {
    expect(read(text)).toBe(expected)
    if (expected !== 'refused') expect(new Cron(expected, { paused: true }).nextRun()).not.toBeNull()
  })
})

it('gives back the words around the phrase', () => {
  expect(readWhen('Remind me in 2 minutes to check', { now: NOW, timezone: 'UTC' })).toMatchObject({
    phrase: 'in 2 minutes',
    before: 'Remind me',
    after: 'to check',
  })
})

it('finds only times that are ahead, whatever the words', () => {
  const word = fc.constantFrom(
    ...'in at on every once next the and 5 17 2 1.5 90 half quarter hour minutes day days monday tomorrow 18:30 9pm noon 24 december th morning of a week month 2026-12-01 , from between to'.split(
      ' ',
    ),
  )
  const texts = fc.array(word, { maxLength: 9 }).map(words => words.join(' '))
  fc.assert(
    fc.property(
      texts,
      fc.boolean(),
      fc.constantFrom('Europe/Berlin', 'America/New_York', 'x'),
      (text, bare, timezone) => {
        const when = readWhen(text, { now: NOW, timezone, bare })?.when
        if (when?.kind === 'at') expect(when.at).toBeGreaterThan(NOW)
        if (when?.kind === 'delay') expect(when.delay).toMatch(/^[1-9]\d*[smhd]$/)
        if (when?.kind === 'cron') expect(new Cron(when.cron, { paused: true }).nextRun()).not.toBeNull()
      },
    ),
    { numRuns: 1500 },
  )
})
