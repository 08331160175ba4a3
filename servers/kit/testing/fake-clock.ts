import type { Clock } from '../clock.ts'

/** A clock for tests: its time stands still until `advance`. */
export interface FakeClock extends Clock {
  /** Advances the time, runs the timers that fall due, in order, and lets promises settle in between. */
  advance(milliseconds: number): Promise<void>
  /** Number of waiting timers, for a leak check. */
  readonly pending: number
  /** Resolves when the next timer is set; some code waits for the system before it sets one. */
  nextTimer(): Promise<void>
}

export function createFakeClock(start = 1_000_000): FakeClock {
  let time = start
  let timers: { at: number; run: () => void }[] = []
  let set = Promise.withResolvers<void>()
  const settle = () => new Promise<void>(resolve => setImmediate(resolve))
  return {
    now: () => time,
    monotonic: () => time - start,
    after(delay, run) {
      const timer = { at: time + Math.max(0, delay), run }
      timers.push(timer)
      set.resolve()
      set = Promise.withResolvers()
      return () => {
        timers = timers.filter(other => other !== timer)
      }
    },
    async advance(milliseconds) {
      const end = time + milliseconds
      await settle()
      for (;;) {
        const due = timers.filter(timer => timer.at <= end).sort((a, b) => a.at - b.at)[0]
        if (!due) break
        timers = timers.filter(other => other !== due)
        time = Math.max(time, due.at)
        due.run()
        await settle()
      }
      time = end
    },
    nextTimer: () => set.promise,
    get pending() {
      return timers.length
    },
  }
}
