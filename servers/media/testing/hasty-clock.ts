import { type Clock, systemClock } from '../../kit/clock.ts'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'

/** Milliseconds that a request may take; requests that use the web have the longer limit. */
const LIMITS = [10_000, 20_000]
/** Milliseconds that a pause takes at most. */
const PAUSE = 5000
const SOON = 30

/**
 * Creates a clock whose pauses end at once. Its limits never pass, except those of requests if the upstream
 * is slow.
 */
export function createHastyClock(isSlow = false): Clock {
  return {
    ...createFakeClock(),
    after(delay, run) {
      if (delay <= PAUSE) return systemClock.after(0, run)
      return isSlow && LIMITS.includes(delay) ? systemClock.after(SOON, run) : () => undefined
    },
  }
}
