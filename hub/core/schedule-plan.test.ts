import { expect, test } from 'vitest'
import {
  describeNextRun,
  newestOccurrences,
  nextOccurrence,
  planSchedule,
  type ScheduleAsk,
} from './schedule-plan.ts'

const NOW = Date.parse('2026-11-21T22:00:00Z')
const plan = (ask: ScheduleAsk) => planSchedule(ask, NOW, 'Europe/Berlin')
const iso = (at: number | null | undefined) =>
  typeof at === 'number' ? new Date(at).toISOString().slice(0, 19) : at

test.for([
  [{ delay: '90s' }, '2026-11-21T22:01:30'],
  [{ delay: '30m' }, '2026-11-21T22:30:00'],
  [{ delay: ' 2 h ' }, '2026-11-22T00:00:00'],
  [{ delay: '1d' }, '2026-11-22T22:00:00'],
  [{ delay: '1.5 hours' }, '2026-11-21T23:30:00'],
  [{ at: '2026-11-22T08:00:00Z' }, '2026-11-22T08:00:00'],
  [{ at: '2026-11-22T08:00' }, '2026-11-22T07:00:00'],
  [{ at: '2026-11-22T08:00', timezone: 'Asia/Tokyo' }, '2026-11-21T23:00:00'],
  [{ cron: '0 8 * * *' }, '2026-11-22T07:00:00'],
  [{ cron: '0 8 * * *', timezone: 'UTC' }, '2026-11-22T08:00:00'],
  [{ cron: '@daily', timezone: 'UTC' }, '2026-11-22T00:00:00'],
  [{ delay: 'on_event', wakeOnEvents: ['server_empty'] }, null],
  [{ delay: '1h', wakeOnEvents: ['server_empty'] }, '2026-11-21T23:00:00'],
] as const)('%j runs first at %s', ([ask, expected]) => {
  const { nextRun, kind } = plan(ask as ScheduleAsk)
  expect(iso(nextRun)).toBe(expected)
  expect(kind).toBe('cron' in ask ? 'cron' : 'once')
})

test.for([
  [{}, /exactly one of delay/],
  [{ delay: '1h', cron: '0 8 * * *' }, /exactly one of delay/],
  [{ delay: '30' }, /"30" is not a time span such as "90s"/],
  [{ delay: 'soon' }, /not a time span/],
  [{ delay: '-5m' }, /not a time span/],
  [{ delay: '0s' }, /not a time span/],
  [{ delay: '5 parsecs' }, /not a time span/],
  [{ delay: '3y' }, /over a year/],
  [{ delay: 'on_event' }, /needs wake_on_events/],
  [{ delay: 'on_event', wakeOnEvents: [] }, /needs wake_on_events/],
  [{ at: 'tomorrow' }, /not an ISO 8601 time such as 2026-11-21T23:00:00Z/],
  [{ at: '2026-11-31' }, /not an ISO 8601 time/],
  [{ at: '2026-11-21T22:00:00Z' }, /is past; it is 2026-11-21T22:00:00Z now/],
  [{ at: '2090-01-01' }, /over five years away/],
  [{ cron: 'daily' }, /"daily" is no cron expression such as "0 8 \* \* \*"/],
  [{ cron: '61 * * * *' }, /no cron expression/],
  [{ cron: '0 0 31 2 *' }, /never comes again/],
  [{ cron: '0 0 8 1 1 * 2020' }, /never comes again/],
  [{ delay: '1h', timezone: 'Mars/Base' }, /Mars\/Base is not an IANA zone/],
] as const)('%j is refused: %s', ([ask, text]) => {
  expect(() => plan(ask as ScheduleAsk)).toThrow(expect.objectContaining({ code: 'invalid_arguments' }))
  expect(() => plan(ask as ScheduleAsk)).toThrow(text)
})

test('times are whole milliseconds', () => {
  expect(plan({ delay: '0.1ms' }).nextRun).toBe(NOW + 1)
  expect(Number.isInteger(plan({ delay: '1.00005s' }).nextRun)).toBe(true)
})

/** Returns `count` occurrences from `from` on, around the change of the clocks. */
function walk(cron: string, timezone: string, from: string, count: number): string[] {
  const found: string[] = []
  for (let at: number | undefined = Date.parse(from); found.length < count; ) {
    at = nextOccurrence(cron, timezone, at)
    if (at === undefined) break
    found.push(new Date(at).toISOString().slice(5, 16))
  }
  return found
}

test('around daylight saving a daily time comes once a day, skipped or passed twice', () => {
  expect(walk('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00:00Z', 3)).toEqual([
    '03-28T01:30',
    '03-29T01:00',
    '03-30T00:30',
  ])
  expect(walk('30 2 * * *', 'Europe/Berlin', '2026-10-24T00:00:00Z', 3)).toEqual([
    '10-24T00:30',
    '10-25T00:30',
    '10-26T01:30',
  ])
  expect(walk('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30:00Z', 4)).toEqual([
    '10-25T00:00',
    '10-25T01:00',
    '10-25T02:00',
    '10-25T03:00',
  ])
})

test('the latest occurrence is the newest at or before a time', () => {
  const at = (text: string) =>
    iso(newestOccurrences('0 8 * * *', 'Europe/Berlin', Date.parse(text), 1).at(-1))
  expect(at('2026-11-22T06:59:59.999Z')).toBe('2026-11-21T07:00:00')
  expect(at('2026-11-22T07:00:00Z')).toBe('2026-11-22T07:00:00')
  expect(at('2026-11-22T07:00:00.001Z')).toBe('2026-11-22T07:00:00')
  expect(newestOccurrences('0 0 8 1 1 * 2030', 'UTC', NOW, 3)).toEqual([])
})

test('a next run in words', () => {
  expect(describeNextRun(NOW, 'Europe/Berlin')).toBe('at Sat 2026-11-21 23:00 (Europe/Berlin)')
  expect(describeNextRun(null, 'UTC')).toBe('only when one of its events happens')
})
