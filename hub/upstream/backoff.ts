const FIRST_MS = 500
const LONGEST_MS = 60_000
/** The most restarts of one server within a minute, whatever their reason. */
export const MOST_RESTARTS = 10
const MINUTE_MS = 60_000

/** Returns the milliseconds before try `tries` (from 1): doubling, with up to a quarter of jitter. */
export function decideBackoff(tries: number, random: () => number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(tries - 1, 20))
  return Math.round(whole * (0.75 + 0.25 * random()))
}

/**
 * Returns the milliseconds from `now` until the next restart: `wait`, or longer (`capped`) if it would be one
 * too many. `restarts` are the times of earlier ones (milliseconds of one clock, in order).
 */
export function decideRestart(
  restarts: readonly number[],
  now: number,
  wait: number,
): { wait: number; capped: boolean } {
  const first = restarts.at(-MOST_RESTARTS)
  const free = first === undefined ? 0 : first + MINUTE_MS - now
  return free > wait ? { wait: Math.ceil(free), capped: true } : { wait, capped: false }
}

/** Counts the restarts of one server, over all of its processes. */
export interface RestartLimit {
  /** Returns how long to wait before the next restart, and counts that restart. */
  next(now: number, wait: number): { wait: number; capped: boolean }
}

export function createRestartLimit(): RestartLimit {
  const restarts: number[] = []
  return {
    next(now, wait) {
      const decided = decideRestart(restarts, now, wait)
      restarts.push(now + decided.wait)
      if (restarts.length > MOST_RESTARTS) restarts.shift()
      return decided
    },
  }
}
