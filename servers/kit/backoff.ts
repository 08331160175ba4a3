/**
 * Returns the milliseconds to wait after the `failures`-th failure in a row (from 1): doubling from `first`
 * up to `longest`, plus or minus a fifth, so that many callers do not come at once. `random` is 0 up to 1.
 */
export function decideBackOff(failures: number, first: number, longest: number, random: number): number {
  const delay = Math.min(first * 2 ** Math.min(failures - 1, 30), Math.max(first, longest))
  return Math.round(delay * (0.8 + 0.4 * random))
}
