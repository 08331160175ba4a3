import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import { createFakeMachine, fakeCounters } from '../testing/fake-machine.ts'
import { createSampler, toCpuPercent, toMemoryPercent, toNetworkUse } from './sampler.ts'

const noSignal = new AbortController().signal

function create() {
  const clock = createFakeClock()
  const state = { frozen: false, ticks: 0 }
  const machine = createFakeMachine({
    counters: async () => {
      if (!state.frozen) state.ticks = clock.monotonic()
      return fakeCounters(clock.monotonic(), state.ticks / 4, state.ticks)
    },
  })
  return { clock, state, sampler: createSampler(machine, clock) }
}

describe('a window', () => {
  test('without a look of the watchers it takes half a second of its own', async () => {
    const { clock, sampler } = create()
    const window = sampler.window(noSignal)
    await clock.advance(500)
    const { from, to } = await window
    expect(to.at - from.at).toBe(500)
    expect(toCpuPercent(from, to)).toBe(25)
  })

  test.each([
    [7000, 7000],
    [1000, 1000],
    [999, 500],
    [60_001, 500],
  ])('a look that is %d ms old gives a window of %d ms', async (age, length) => {
    const { clock, sampler } = create()
    await sampler.sample()
    await clock.advance(age)
    const window = sampler.window(noSignal)
    await clock.advance(500)
    const { from, to } = await window
    expect(to.at - from.at).toBe(length)
  })

  test('waits on where nothing was counted, until it is called off', async () => {
    const { clock, state, sampler } = create()
    state.frozen = true
    const controller = new AbortController()
    const window = sampler.window(controller.signal)
    await clock.advance(5000)
    controller.abort(new Error('enough'))
    await expect(window).rejects.toThrow('enough')
    expect(clock.pending).toBe(0)
  })
})

test('looks give the one before', async () => {
  const { clock, sampler } = create()
  expect((await sampler.sample()).from).toBeUndefined()
  await clock.advance(100)
  const { from, to } = await sampler.sample()
  expect([from?.at, to.at]).toEqual([0, 100])
})

test.each([
  [0, 0, 50, 100, 50],
  [0, 0, 0, 100, 0],
  [0, 0, 100, 100, 100],
  [10, 100, 5, 200, 0],
  [0, 100, 0, 100, undefined],
  [0, 100, 0, 50, undefined],
])('busy %d of %d, then %d of %d, is %s %%', (busy, total, laterBusy, laterTotal, percent) => {
  expect(toCpuPercent(fakeCounters(0, busy, total), fakeCounters(1, laterBusy, laterTotal))).toBe(percent)
})

test('memory that is not known is not used', () => {
  expect(toMemoryPercent({ totalBytes: 100, availableBytes: 25 })).toBe(75)
  expect(toMemoryPercent({ totalBytes: 0, availableBytes: 0 })).toBe(0)
})

test('an interface that is new, or counts anew, has totals but no rates', () => {
  const totals = (name: string, receivedBytes: number, sentBytes: number) => ({
    name,
    receivedBytes,
    sentBytes,
  })
  const from = fakeCounters(0, 0, 0, [totals('eth0', 100, 10), totals('wg0', 900, 900)])
  const to = fakeCounters(2000, 0, 0, [totals('eth0', 300, 10), totals('wg0', 5, 5), totals('usb0', 7, 7)])
  expect(toNetworkUse(from, to)).toEqual([
    { name: 'eth0', receivedBytes: 300, sentBytes: 10, rates: { received: 100, sent: 0 } },
    { name: 'wg0', receivedBytes: 5, sentBytes: 5 },
    { name: 'usb0', receivedBytes: 7, sentBytes: 7 },
  ])
})
