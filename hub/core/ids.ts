import { randomBytes } from 'node:crypto'

/** Makes ids that sort by the time they were made: `<prefix>_<time in base 36><random>`. */
export type NewId = (prefix: string) => string

const TIME_DIGITS = 9
const RANDOM_BYTES = 8

/** Random bytes that are read at once: asking the system for a few takes as long as for many. */
const POOL_BYTES = 512

/** Creates ids from the given clock's time and 64 bits of the system's randomness. */
export function createIds(now: () => number): NewId {
  let pool = ''
  return prefix => {
    if (pool === '') pool = randomBytes(POOL_BYTES).toString('hex')
    const random = pool.slice(0, RANDOM_BYTES * 2)
    pool = pool.slice(random.length)
    return `${prefix}_${now().toString(36).padStart(TIME_DIGITS, '0')}${random}`
  }
}
