import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toLocal } from './clock.ts'
import {
  type DueSchedule,
  decideOccurrences,
  type MissedPolicy,
  newestOccurrences,
  nextOccurrence,
} from './schedule-plan.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const at = (text: string) => Date.parse(`${text}Z`)
const iso = (times: readonly number[]) => times.map(time => new Date(time).toISOString().slice(0, 16))

function decide(missed: MissedPolicy, now: string, cron: string | null = '0 8 * * *') {
  const due: DueSchedule = { cron, timezone: 'UTC', nextRun: at('2026-11-22T08:00'), missed }
  const { fire, next } = decideOccurrences(due, at(now))
  return [iso(fire), next === undefined ? undefined : iso([next])[0]]
}

test.for([
  ['latest', '2026-11-22T08:00', ['2026-11-22T08:00'], '2026-11-23T08:00'],
  ['latest', '2026-11-25T12:00', ['2026-11-25T08:00'], '2026-11-26T08:00'],
  ['all', '2026-11-22T08:00', ['2026-11-22T08:00'], '2026-11-23T08:00'],
  [
    'all',
    '2026-11-24T12:00',
    ['2026-11-22T08:00', '2026-11-23T08:00', '2026-11-24T08:00'],
    '2026-11-25T08:00',
  ],
  ['skip', '2026-11-22T08:00', ['2026-11-22T08:00'], '2026-11-23T08:00'],
  ['skip', '2026-11-22T08:01', ['2026-11-22T08:00'], '2026-11-23T08:00'],
  ['skip', '2026-11-22T08:02', [], '2026-11-23T08:00'],
  ['skip', '2026-11-25T12:00', [], '2026-11-26T08:00'],
  ['skip', '2026-11-25T08:00', ['2026-11-25T08:00'], '2026-11-26T08:00'],
] as const)('promise 7: %s at %s fires %j and is due again at %s', ([missed, now, fire, next]) => {
  expect(decide(missed, now)).toEqual([fire, next])
})

test.for([
  ['latest', ['2026-11-22T08:00']],
  ['all', ['2026-11-22T08:00']],
  ['skip', []],
] as const)(
  'promise 7: a one-shot that was slept through, with %s, fires %j and is over',
  ([missed, fire]) => {
    expect(decide(missed, '2026-12-24T00:00', null)).toEqual([fire, undefined])
  },
)

test('promise 7: however much was slept through, all fires the newest twenty', () => {
  const [fire = [], next] = decide('all', '2027-11-22T12:00')
  expect(fire).toHaveLength(20)
  expect([fire[0], fire.at(-1), next]).toEqual(['2027-11-03T08:00', '2027-11-22T08:00', '2027-11-23T08:00'])
})

/** Nights in which the clocks of a zone move, forwards and back, by an hour or (Lord Howe) half of one. */
const nights = [
  ['Europe/Berlin', '2026-03-29', '2026-10-25', '2027-03-28'],
  ['America/New_York', '2026-03-08', '2026-11-01', '2027-03-14'],
  ['Australia/Lord_Howe', '2026-04-05', '2026-10-04', '2027-04-04'],
].flatMap(([zone = '', ...dates]) => dates.map(date => ({ zone, night: Date.parse(date) })))

/** Returns the first `count` occurrences after `from`. */
function enumerate(cron: string, zone: string, from: number, count: number): number[] {
  const found: number[] = []
  let last = from
  while (found.length < count) {
    const next = nextOccurrence(cron, zone, last)
    if (next === undefined) break
    found.push(next)
    last = next
  }
  return found
}

/** Tells whether the clocks of the zone show this minute of the day on the day that begins about `from`. */
function isShown(zone: string, date: string, time: string, around: number): boolean {
  for (let minute = around - DAY; minute < around + 2 * DAY; minute += MINUTE)
    if (toLocal(minute, zone).endsWith(`${date} ${time}`)) return true
  return false
}

const pad = (number: number) => String(number).padStart(2, '0')

test('promise 7: a daily cron comes once on every day, also where the clocks skip or repeat its time', () => {
  const hours = fc.integer({ min: 0, max: 4 })
  const minutes = fc.constantFrom(0, 1, 15, 29, 30, 45, 59)
  fc.assert(
    fc.property(fc.constantFrom(...nights), hours, minutes, ({ zone, night }, hour, minute) => {
      const cron = `${minute} ${hour} * * *`
      const found = enumerate(cron, zone, night - 3 * DAY, 6)
      const days = found.map(time => toLocal(time, zone).slice(4, 14))
      expect(new Set(days).size).toBe(6)
      for (const [index, time] of found.entries()) {
        const shown = toLocal(time, zone).slice(15)
        const wanted = `${pad(hour)}:${pad(minute)}`
        if (shown !== wanted) expect(isShown(zone, days[index] ?? '', wanted, time)).toBe(false)
      }
      const last = found.at(-1) ?? 0
      expect(newestOccurrences(cron, zone, last, 6)).toEqual(found)
      expect(newestOccurrences(cron, zone, last - 1, 5)).toEqual(found.slice(0, 5))
    }),
    { numRuns: 60 },
  )
})

test('promise 7: what comes every few minutes comes on while the clocks are moved', () => {
  const cron = fc.constantFrom(1, 5, 10, 15, 30)
  fc.assert(
    fc.property(fc.constantFrom(...nights), cron, ({ zone, night }, minutes) => {
      const count = (30 * 60) / minutes
      const found = enumerate(`*/${minutes} * * * *`, zone, night - 12 * HOUR, count)
      const first = found[0] ?? 0
      expect(found).toEqual(found.map((_, index) => first + index * minutes * MINUTE))
    }),
    { numRuns: 20 },
  )
})

test('promise 7: over any sleeps around a change of the clocks all loses nothing and repeats nothing', () => {
  const crons = ['30 * * * *', '*/20 1-3 * * *', '30 2 * * *', '0 3 * * *', '15 1,2 * * *']
  const sleeps = fc.array(fc.integer({ min: 0, max: 7 * HOUR }), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(
      fc.constantFrom(...nights),
      fc.constantFrom(...crons),
      sleeps,
      ({ zone, night }, cron, all) => {
        let now = night - DAY
        let nextRun = nextOccurrence(cron, zone, now) ?? 0
        const fired: number[] = []
        for (const ms of all) {
          now += ms
          if (nextRun > now) continue
          const decided = decideOccurrences({ cron, timezone: zone, nextRun, missed: 'all' }, now)
          fired.push(...decided.fire)
          nextRun = decided.next ?? Number.POSITIVE_INFINITY
        }
        const expected = enumerate(cron, zone, night - DAY, 400).filter(time => time <= now)
        // None of these crons has more than 20 occurrences in seven hours, so that the bound drops nothing.
        expect(fired).toEqual(expected)
      },
    ),
    { numRuns: 40 },
  )
})
