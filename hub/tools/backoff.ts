const FIRST_MS = 500
const LONGEST_MS = 60_000

/** Milliseconds to wait before try number `tries` (from 1): doubling, with up to a quarter of jitter. */
export function decideBackoff(tries: number, random: () => number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(tries - 1, 20))
  return Math.round(whole * (0.75 + 0.25 * random()))
}
