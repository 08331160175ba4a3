import { randomBytes } from 'node:crypto'

/** Makes ids that sort by the time they were made: `<prefix>_<time in base 36><random>`. */
export type NewId = (prefix: string) => string

const TIME_DIGITS = 9
const RANDOM_BYTES = 8

/** Ids from the given clock's time and the system's randomness (64 bits of it). */
export function createIds(now: () => number): NewId {
  return prefix =>
    `${prefix}_${now().toString(36).padStart(TIME_DIGITS, '0')}${randomBytes(RANDOM_BYTES).toString('hex')}`
}
