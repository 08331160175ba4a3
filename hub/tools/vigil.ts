import type { Clock } from '../core/clock.ts'

/** So long an answer is waited for awake, milliseconds. */
const QUICK_MS = 0.5

/**
 * Keeps the process awake while one request alone is under way to a server that answered the last one at once. To fall asleep
 * and wake takes longer than such an answer, and what the processor knew of the program is gone then: a fifth of a quick
 * call. Costs at most half a millisecond where the answer takes longer after all, and nothing with a server that is slower.
 */
export interface Vigil {
  sent(): void
  /** A request that was sent is over. */
  over(): void
}

/** `again` calls back after the events that are there have been looked at. */
export function createVigil(clock: Clock, again: (run: () => void) => void = setImmediate): Vigil {
  let underWay = 0
  let sentAt = 0
  let isQuick = false
  let isAwake = false
  const isWorthIt = () => underWay === 1 && clock.monotonic() - sentAt < QUICK_MS
  const look = () => {
    isAwake = isWorthIt()
    if (isAwake) again(look)
  }
  return {
    sent() {
      underWay++
      sentAt = clock.monotonic()
      if (underWay > 1 || !isQuick || isAwake) return
      isAwake = true
      again(look)
    },
    over() {
      if (underWay === 1) isQuick = isWorthIt()
      underWay--
    },
  }
}
