import { expect, test, vi } from 'vitest'
import { isTimezone } from '../../schemas/timezone.ts'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { fromIso, MAX_DELAY, sleep, systemClock, timeoutSignal, toIso, toLocal } from './clock.ts'

test.for([
  ['2026-11-22T08:00:00Z', 'Europe/Berlin', '2026-11-22T08:00:00Z'],
  ['2026-11-22T08:00', 'Europe/Berlin', '2026-11-22T07:00:00Z'],
  ['2026-07-22 08:00:30', 'Europe/Berlin', '2026-07-22T06:00:30Z'],
  ['2026-11-22T08:00:00.5+05:30', 'UTC', '2026-11-22T02:30:00.500Z'],
  ['2026-11-22T08:00+0100', 'UTC', '2026-11-22T07:00:00Z'],
  ['2026-11-22', 'America/New_York', '2026-11-22T05:00:00Z'],
  ['2026-11-22T08:00', 'Asia/Kathmandu', '2026-11-22T02:15:00Z'],
  // In the one night the clocks skip from 2 to 3; in the other they pass from 2 to 3 twice.
  ['2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30:00Z'],
  ['2026-03-29T03:30', 'Europe/Berlin', '2026-03-29T01:30:00Z'],
  ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T01:30:00Z'],
  ['2026-10-25T01:30', 'Europe/Berlin', '2026-10-24T23:30:00Z'],
] as const)('%s in %s is %s', ([text, timezone, expected]) => {
  const at = fromIso(text, timezone)
  expect(at === undefined ? at : toIso(at)).toBe(expected)
})

test.for([
  '',
  'tomorrow',
  '2026-11',
  '2026-02-31',
  '2026-13-01',
  '2026-11-21 (x)',
  '2026-11-22T25:00',
  '2026-11-22T08',
])('%j is no ISO 8601 time', text => expect(fromIso(text, 'UTC')).toBeUndefined())

test('without a zone anywhere it is the one of the system', () => {
  const parts = [2026, 10, 22, 8, 0] as const
  expect(fromIso('2026-11-22T08:00')).toBe(new Date(...parts).getTime())
})

test('toIso and fromIso are each other’s way back', () => {
  for (const at of [0, 1, 999, 1_795_302_000_000, 4_102_444_799_123]) expect(fromIso(toIso(at))).toBe(at)
})

test('toLocal reads as a person in that zone does', () => {
  const at = Date.parse('2026-11-21T22:40:00Z')
  expect(toLocal(at, 'Europe/Berlin')).toBe('Sat 2026-11-21 23:40')
  expect(toLocal(at, 'Asia/Tokyo')).toBe('Sun 2026-11-22 07:40')
  expect(toLocal(Date.parse('2026-01-01T00:05:00Z'), 'UTC')).toBe('Thu 2026-01-01 00:05')
})

test('zones are those that the platform knows', () => {
  expect(['Europe/Berlin', 'UTC', 'Mars/Base', ''].map(isTimezone)).toEqual([true, true, false, false])
})

test('sleep resolves after its time, and frees its timer when it is aborted before', async () => {
  const clock = createFakeClock()
  const slept = sleep(clock, 1_000)
  clock.advance(999)
  expect(clock.timers).toBe(1)
  clock.advance(1)
  await slept
  const controller = new AbortController()
  const cut = sleep(clock, 1_000, controller.signal)
  controller.abort(new Error('enough'))
  await expect(cut).rejects.toThrow('enough')
  expect(clock.timers).toBe(0)
  await expect(sleep(clock, 1_000, controller.signal)).rejects.toThrow('enough')
  expect(clock.timers).toBe(0)
})

test('a timeout signal aborts with what took too long; cancelled it frees its timer', () => {
  const clock = createFakeClock()
  const late = timeoutSignal(clock, 2_000, 'The call')
  const other = timeoutSignal(clock, 2_000, 'The call')
  other.cancel()
  clock.advance(2_000)
  expect(late.signal.reason).toMatchObject({ name: 'TimeoutError', message: 'The call took longer than 2 s' })
  expect([other.signal.aborted, clock.timers]).toEqual([false, 0])
})

test('a timeout signal that is held goes on where it stood, once nobody holds it', () => {
  const clock = createFakeClock()
  const { signal, hold, ...late } = timeoutSignal(clock, 2_000, 'The call')
  clock.advance(500)
  const [one, other] = [hold(), hold()]
  clock.advance(5_000)
  expect(one()).toBe(0)
  clock.advance(1_000)
  expect([clock.timers, other()]).toEqual([0, 6_000])
  clock.advance(1_499)
  expect(signal.aborted).toBe(false)
  clock.advance(1)
  expect(signal.reason).toMatchObject({ message: 'The call took longer than 2 s' })
  const held = timeoutSignal(clock, 2_000, 'The call')
  const release = held.hold()
  held.cancel()
  release()
  expect(clock.timers).toBe(0)
  late.cancel()
})

test('the system’s timers: what is past fires at once, what is too far is cut to the longest delay', () => {
  vi.useFakeTimers()
  try {
    let fired = 0
    systemClock.after(-5, () => fired++)
    systemClock.after(MAX_DELAY * 3, () => fired++)
    const cancel = systemClock.after(10, () => fired++)
    cancel()
    vi.advanceTimersByTime(1)
    expect(fired).toBe(1)
    vi.advanceTimersByTime(MAX_DELAY)
    expect(fired).toBe(2)
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1_000)
  const before = systemClock.monotonic()
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before)
})
