import { describe, expect, it } from 'vitest'
import type { Clock } from '../../core/clock.ts'
import { createCallWatch } from './call-watch.ts'

/** Makes a clock whose timers run only when told. */
function manualClock() {
  const timers = new Map<() => void, number>()
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    after(delay, run) {
      timers.set(run, delay)
      return () => timers.delete(run)
    },
  }
  return { clock, timers, fire: () => [...timers.keys()].map(run => run()) }
}

describe('createCallWatch', () => {
  it("aborts with the caller's reason", () => {
    const caller = new AbortController()
    using watch = createCallWatch(manualClock().clock, caller.signal)
    caller.abort('stop')
    expect(watch.signal.reason).toBe('stop')
  })

  it('is aborted from the start where the caller is', () => {
    using watch = createCallWatch(manualClock().clock, AbortSignal.abort('stop'))
    expect(watch.signal.reason).toBe('stop')
  })

  it('aborts with the error of the wait that took too long, and only the last wait counts', () => {
    const { clock, timers, fire } = manualClock()
    using watch = createCallWatch(clock, new AbortController().signal)
    watch.within(10, () => new Error('first'))
    watch.within(20, () => new Error('second'))
    expect([...timers.values()]).toEqual([20])
    fire()
    expect(watch.signal.reason).toEqual(new Error('second'))
  })

  it('leaves neither timer nor listener, and cuts what is still open', () => {
    const { clock, timers } = manualClock()
    const caller = new AbortController()
    const watch = createCallWatch(clock, caller.signal)
    watch.within(10, () => new Error('late'))
    watch[Symbol.dispose]()
    expect(timers.size).toBe(0)
    expect(watch.signal.aborted).toBe(true)
    caller.abort('stop')
    expect(watch.signal.reason).not.toBe('stop')
  })
})
