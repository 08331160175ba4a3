import { randomBytes } from 'node:crypto'

/** Makes ids that sort by the time they were made: `<prefix>_<time in base 36><random>`. */
export type NewId = (prefix: string) => string

const TIME_DIGITS = 9
const RANDOM_BYTES = 8

/** So many at once: to ask the system for a few bytes takes as long as for many. */
const POOL_BYTES = 512

/** Ids from the given clock's time and the system's randomness (64 bits of it). */
export function createIds(now: () => number): NewId {
  let pool = ''
  return prefix => {
    if (pool === '') pool = randomBytes(POOL_BYTES).toString('hex')
    const random = pool.slice(0, RANDOM_BYTES * 2)
    pool = pool.slice(random.length)
    return `${prefix}_${now().toString(36).padStart(TIME_DIGITS, '0')}${random}`
  }
}
