import { randomBytes } from 'node:crypto'

/** Makes ids that sort by the time they were made: `<prefix>_<time in base 36><random>`. */
export type NewId = (prefix: string) => string

const TIME_DIGITS = 9
const RANDOM_BYTES = 8

/** Creates ids from the given clock's time and 64 bits of the system's randomness. */
export function createIds(now: () => number): NewId {
  return prefix => {
    const random = randomBytes(RANDOM_BYTES).toString('hex')
    return `${prefix}_${now().toString(36).padStart(TIME_DIGITS, '0')}${random}`
  }
}
