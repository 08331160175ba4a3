import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { until } from '../../tests/support/until.ts'
import { clearUpAtRest, type Heap, processHeap } from './clear-up.ts'

const MB = 1e6

/** A process whose heap a test sets. */
function createProcess() {
  const clock = createFakeClock()
  const state = { size: 44 * MB, busy: 0, cleared: 0 }
  let collected: (() => void) | undefined
  const heap: Heap = {
    size: () => state.size,
    clearUp() {
      state.cleared++
      state.size = 34 * MB
    },
    onCollected(run) {
      collected = run
      return () => {
        collected = undefined
      }
    },
    measure: () => () => state.busy,
  }
  return {
    clock,
    state,
    atRest: clearUpAtRest(clock, heap),
    /** Returns true where a listener was watching collections. */
    collect() {
      const isWatched = collected !== undefined
      collected?.()
      return isWatched
    },
  }
}

test('what a start left is cleared up once, and nothing is done while nothing is collected', () => {
  const { clock, state } = createProcess()
  clock.advance(1_999)
  expect(state.cleared).toBe(0)
  clock.advance(1)
  expect(state.cleared).toBe(1)
  expect(clock.timers).toBe(0)
})

test('a busy process is left alone until it rests, and is not watched meanwhile', () => {
  const { clock, state, collect } = createProcess()
  state.busy = 0.01
  clock.advance(10_000)
  expect(state.cleared).toBe(0)
  expect(collect()).toBe(false)
  state.busy = 0.001
  clock.advance(2_000)
  expect(state.cleared).toBe(1)
})

test('work is followed by another look, and cleared up after where the heap grew enough', () => {
  const { clock, state, collect } = createProcess()
  clock.advance(2_000)
  for (const [size, cleared] of [
    [37, 1],
    [39, 2],
    [37, 2],
    [200, 3],
  ] as const) {
    state.size = size * MB
    expect(collect()).toBe(true)
    clock.advance(9_999)
    expect(clock.timers).toBe(1)
    clock.advance(1)
    expect(state.cleared).toBe(cleared)
    expect(clock.timers).toBe(0)
  }
})

test.each([0, 2_000])('disposed of after %i ms, it holds nothing', after => {
  const { clock, state, atRest, collect } = createProcess()
  clock.advance(after)
  atRest[Symbol.dispose]()
  expect(clock.timers).toBe(0)
  expect(collect()).toBe(false)
  expect(state.cleared).toBe(after === 0 ? 0 : 1)
})

test('a heap gives back what was left in it, and tells of collections while somebody listens', async () => {
  let collections = 0
  const stop = processHeap.onCollected(() => collections++)
  const left = Array.from({ length: 3_000_000 }, (_, index) => ({ index }))
  const before = processHeap.size()
  left.length = 0
  processHeap.clearUp()
  expect(before - processHeap.size()).toBeGreaterThan(4 * MB)
  await until('a collection is told of', () => collections > 0)
  stop()
  const heard = collections
  processHeap.clearUp()
  await new Promise(resolve => setImmediate(resolve))
  expect(collections).toBe(heard)
})

test('a heap that was cleared up does not take that for work', async () => {
  const seen: number[] = []
  const observer = new PerformanceObserver(list => {
    seen.push(...list.getEntries().map(({ startTime }) => startTime))
  })
  observer.observe({ entryTypes: ['gc'] })
  processHeap.clearUp()
  const since = performance.now()
  let told = 0
  const stop = processHeap.onCollected(() => told++)
  await until('the clearing up is told of', () => seen.length > 0)
  observer.disconnect()
  stop()
  expect(seen.some(time => time < since)).toBe(true)
  expect(told > 0).toBe(seen.some(time => time >= since))
})
