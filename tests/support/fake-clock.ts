import type { Clock } from '../../hub/core/clock.ts'
import { createRecord } from './until.ts'

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Moves the time forward and runs every due timer, in order of their times. */
  advance(ms: number): void
  /** Changes the time of day, forwards or backwards; timers and the monotonic time do not change. */
  jump(ms: number): void
  /** Number of active timers. */
  readonly timers: number
  /**
   * Waits for a timer of this delay, from number `from` of all timers ever set; resolves with the number
   * after it.
   */
  armed(delay: number, from?: number): Promise<number>
}

export const FAKE_START = Date.parse('2026-11-21T22:00:00Z')

export function createFakeClock(start = FAKE_START): FakeClock {
  let timeOfDay = start
  let elapsed = 0
  let made = 0
  const timers = new Map<number, { due: number; run: () => void }>()
  const armed = createRecord<{ delay: number; number: number }>()
  const next = () => [...timers].sort(([a, one], [b, other]) => one.due - other.due || a - b)[0]
  return {
    now: () => timeOfDay,
    monotonic: () => elapsed,
    after(delay, run) {
      const id = made++
      timers.set(id, { due: elapsed + Math.max(0, delay), run })
      armed.add({ delay, number: id })
      return () => void timers.delete(id)
    },
    advance(ms) {
      const end = elapsed + ms
      for (let first = next(); first && first[1].due <= end; first = next()) {
        const [id, { due, run }] = first
        timers.delete(id)
        timeOfDay += due - elapsed
        elapsed = due
        run()
      }
      timeOfDay += end - elapsed
      elapsed = end
    },
    jump(ms) {
      timeOfDay += ms
    },
    get timers() {
      return timers.size
    },
    async armed(delay, from = 0) {
      const timer = await armed.find(`a timer of ${delay} ms is set`, each => each.delay === delay, from)
      return timer.number + 1
    },
  }
}
