/** Waits between tries, in milliseconds: the first, and the longest that doubling leads to. */
export interface Backoff {
  first: number
  longest: number
}

/**
 * Returns the milliseconds before try `tries` (from 1): doubling, less up to a quarter by chance, so that not
 * all come back at once.
 */
export function decideBackoff(tries: number, { first, longest }: Backoff, random = () => 1): number {
  const whole = Math.min(longest, first * 2 ** Math.min(tries - 1, 30))
  return Math.round(whole * (0.75 + 0.25 * random()))
}
