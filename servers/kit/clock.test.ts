import { expect, test } from 'vitest'
import { parseTime, sleep, systemClock, timeoutSignal, toIsoTime, unlessAborted } from './clock.ts'
import { createFakeClock } from './testing/fake-clock.ts'

test('sleeps until it is time, or until the signal aborts', async () => {
  const clock = createFakeClock()
  const slept = sleep(clock, 1000)
  await clock.advance(1000)
  await slept
  const controller = new AbortController()
  const broken = sleep(clock, 1000, controller.signal)
  controller.abort(new Error('enough'))
  await expect(broken).rejects.toThrow('enough')
  await expect(sleep(clock, 1000, controller.signal)).rejects.toThrow('enough')
  expect(clock.pending).toBe(0)
})

test('a timeout says how long it waited, and can be called off', async () => {
  const clock = createFakeClock()
  const { signal } = timeoutSignal(clock, 2000)
  const other = timeoutSignal(clock, 2000)
  other.cancel()
  await clock.advance(2000)
  expect(signal.reason).toMatchObject({ name: 'TimeoutError', message: 'no answer within 2 s' })
  expect(other.signal.aborted).toBe(false)
})

test('work that cannot be stopped is waited for no longer than the signal allows', async () => {
  const controller = new AbortController()
  expect(await unlessAborted(Promise.resolve(1), controller.signal)).toBe(1)
  const never = unlessAborted(new Promise(() => undefined), controller.signal)
  controller.abort(new Error('enough'))
  await expect(never).rejects.toThrow('enough')
  await expect(unlessAborted(Promise.resolve(1), controller.signal)).rejects.toThrow('enough')
  await expect(unlessAborted(Promise.reject(new Error('late')), controller.signal)).rejects.toThrow('enough')
})

test('the system clock runs what is due and not what was called off', async () => {
  const ran: string[] = []
  const cancel = systemClock.after(0, () => ran.push('called off'))
  cancel()
  await sleep(systemClock, 1)
  expect(ran).toEqual([])
  expect(systemClock.monotonic()).toBeLessThanOrEqual(systemClock.monotonic())
  expect(systemClock.now()).toBeGreaterThan(1_600_000_000_000)
})

test('times as protocols write them', () => {
  expect(parseTime('2026-11-22T05:10:14.105841099Z')).toBe(1_795_324_214_105)
  expect(parseTime('2026-11-22T06:10:14+01:00')).toBe(1_795_324_214_000)
  expect(toIsoTime(1_795_324_214_105)).toBe('2026-11-22T05:10:14.105Z')
  expect(parseTime('1966-09-08T23:30:00Z')).toBeLessThan(0)
  for (const none of ['0001-01-01T00:00:00Z', '', 'yesterday', '2026'])
    expect(parseTime(none)).toBeUndefined()
})
