/** Waits before a server is tried again. */
export const WAITS = { first: 500, longest: 60_000 }
/** The most restarts of one server within a minute, whatever their reason. */
export const MOST_RESTARTS = 10
const MINUTE_MS = 60_000

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
