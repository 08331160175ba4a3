import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTime } from '../../kit/clock.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { type FailureKind, UpstreamFailure } from '../../kit/upstream/failure.ts'
import { decideHold, decideQuiet } from './decide-hold.ts'
import { decideOutcome } from './decide-outcome.ts'

const fromIso = (text: string) => parseTime(text) ?? Number.NaN
const quiet = (from: number, to: number, timezone = 'UTC', critical: 'pass' | 'hold' = 'pass') => ({
  from: from * 60,
  to: to * 60,
  timezone,
  critical,
})

describe('quiet hours', () => {
  test.each([
    ['before', '2026-11-22T21:59:59Z', undefined],
    ['begin', '2026-11-22T22:00:00Z', '2026-11-23T07:00:00Z'],
    ['go over midnight', '2026-11-23T03:30:30Z', '2026-11-23T07:00:00Z'],
    ['last second', '2026-11-23T06:59:59Z', '2026-11-23T07:00:00Z'],
    ['after', '2026-11-23T07:00:00Z', undefined],
  ])('%s', (_what, now, until) => {
    expect(decideQuiet(fromIso(now), 'info', quiet(22, 7))).toBe(until && fromIso(until))
  })

  test('are those of their zone, also where the clocks change', () => {
    const berlin = quiet(22, 7, 'Europe/Berlin')
    expect(decideQuiet(fromIso('2026-11-22T21:30:00Z'), 'info', berlin)).toBe(fromIso('2026-11-23T06:00:00Z'))
    // 25 Oct 2026, 3:00 becomes 2:00; 28 Mar 2027, 2:00 becomes 3:00.
    expect(decideQuiet(fromIso('2026-10-24T21:00:00Z'), 'info', berlin)).toBe(fromIso('2026-10-25T06:00:00Z'))
    expect(decideQuiet(fromIso('2027-03-27T22:00:00Z'), 'info', berlin)).toBe(fromIso('2027-03-28T05:00:00Z'))
  })

  test('critical passes, unless it is held too', () => {
    const now = fromIso('2026-11-22T23:00:00Z')
    expect(decideQuiet(now, 'critical', quiet(22, 7))).toBeUndefined()
    expect(decideQuiet(now, 'critical', quiet(22, 7, 'UTC', 'hold'))).toBeDefined()
  })

  test('always end later than now, within a day and a bit', () => {
    const hours = fc.integer({ min: 0, max: 23 })
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/St_Johns')
    const times = fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 })
    fc.assert(
      fc.property(hours, hours, zones, times, (from, to, zone, now) => {
        fc.pre(from !== to)
        const until = decideQuiet(now, 'info', quiet(from, to, zone))
        if (until === undefined) return
        expect(until).toBeGreaterThan(now)
        expect(until - now).toBeLessThan(25.1 * 3_600_000)
      }),
    )
  })
})

describe('the limit', () => {
  const rules = { limit: { count: 2, per: 1000 } }
  test.each([
    ['room', [900], undefined],
    ['full', [900, 500], { until: 1500, hold: 'rate' }],
    ['over', [900, 0], undefined],
    ['sent in the future, since the clock went back', [5000, 4000], undefined],
  ])('%s', (_what, sentAt, hold) => {
    expect(decideHold({ now: 1000, severity: 'critical', rules, sentAt })).toEqual(hold)
  })

  test('what the upstream asked for comes first', () => {
    const facts = { now: 1000, severity: 'info', rules, sentAt: [900, 500], askedToWaitUntil: 9000 } as const
    expect(decideHold(facts)).toEqual({ until: 9000, hold: 'upstream' })
  })
})

describe('the outcome of a try', () => {
  const fail = (
    kind: FailureKind,
    more: { transient?: boolean; unsent?: boolean; status?: number; retryAfter?: number } = {},
  ) => new UpstreamFailure({ kind, what: 'w', where: 'x', why: 'y', fix: 'z', ...more })
  const facts = { now: 1_000_000, triedAt: 1_000_000, attempts: 1, random: 0.5 }
  const transient = true

  test.each([
    ['refused connection', fail('unreachable', { transient, unsent: true }), false],
    ['broken connection', fail('unreachable', { transient }), true],
    ['timeout', fail('timeout', { transient }), true],
    ['gateway', fail('server_error', { transient, status: 504 }), true],
    ['500', fail('server_error', { transient, status: 500 }), false],
    ['429', fail('rate_limited', { transient, status: 429 }), false],
  ])('%s: again, doubtful or not', (_what, error, isDoubtful) => {
    expect(decideOutcome(error, facts)).toMatchObject({ kind: 'retry', due: 1_005_000, isDoubtful })
  })

  test('no sooner than the upstream asks', () => {
    const error = fail('rate_limited', { transient, retryAfter: 61_000 })
    expect(decideOutcome(error, facts)).toMatchObject({ kind: 'retry', due: 1_061_000 })
  })

  test('no later than it is tried at all, whatever the upstream asks', () => {
    const error = fail('rate_limited', { transient, retryAfter: 1e300 })
    expect(decideOutcome(error, facts)).toMatchObject({ kind: 'retry', due: 1_000_000 + 86_400_000 })
  })

  test.each([
    ['wrong key', fail('unauthorized')],
    ['a tool failure', new ToolFailure({ what: 'w', where: 'x', why: 'y', fix: 'z' })],
    ['a bug', new TypeError('x is not a function')],
  ])('%s: over', (_what, error) => {
    expect(decideOutcome(error, facts).kind).toBe('failed')
  })

  test('the pauses grow up to a quarter of an hour, and end after a day', () => {
    const error = fail('unreachable', { transient })
    const pauses = [1, 2, 3, 9, 100].map(attempts => {
      const outcome = decideOutcome(error, { ...facts, attempts })
      return outcome.kind === 'retry' ? outcome.due - facts.now : undefined
    })
    expect(pauses).toEqual([5_000, 10_000, 20_000, 900_000, 900_000])
    expect(decideOutcome(error, { ...facts, now: facts.now + 86_400_000 }).kind).toBe('failed')
  })
})
