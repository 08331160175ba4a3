import { type Clock, systemClock } from '../../kit/clock.ts'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'

/** Of one request, milliseconds: those of the web take the longer. */
const LIMITS = [10_000, 20_000]
/** Of a pause, at most. */
const PAUSE = 5000
const SOON = 30

/** Its pauses are over at once, and its limits never pass, but those of requests where the upstream is slow. */
export function createHastyClock(isSlow = false): Clock {
  return {
    ...createFakeClock(),
    after(delay, run) {
      if (delay <= PAUSE) return systemClock.after(0, run)
      return isSlow && LIMITS.includes(delay) ? systemClock.after(SOON, run) : () => undefined
    },
  }
}
