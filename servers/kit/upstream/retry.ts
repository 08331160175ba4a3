import type { UpstreamFailure } from './failure.ts'

const MAX_RETRIES = 2
const FIRST_DELAY = 250
const LONGEST_WAIT = 5000
const AGAIN = [429, 502, 503, 504]

/**
 * Returns the milliseconds to wait before a read is tried again after `retries` retries, or undefined to give
 * up. It gives up if the upstream asks for more than 5 s: the failure says how long.
 */
export function decideRetry(failure: UpstreamFailure, retries: number, random: number): number | undefined {
  if (retries >= MAX_RETRIES || !failure.transient) return undefined
  if (failure.kind === 'timeout') return undefined
  if (failure.status !== undefined && !AGAIN.includes(failure.status)) return undefined
  if (failure.retryAfter !== undefined) {
    return failure.retryAfter <= LONGEST_WAIT ? failure.retryAfter : undefined
  }
  return FIRST_DELAY * 2 ** retries * (0.5 + random)
}

/** Reads a `Retry-After` header as milliseconds: seconds or a date; undefined if it is neither. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Number(header) * 1000
  const date = parseHttpDate(header)
  return date === undefined ? undefined : Math.max(0, date - now)
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const DAY = 86_400_000

/** Parses "Sun, 22 Nov 2026 04:36:47 GMT" (RFC 9110, 5.6.7) to unix milliseconds. */
function parseHttpDate(text: string): number | undefined {
  const match = /^\w{3}, (\d\d) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/.exec(text.trim())
  const month = MONTHS.indexOf(match?.[2] ?? '')
  if (!match || month < 0) return undefined
  const [day, year, hours, minutes, seconds] = [1, 3, 4, 5, 6].map(index => Number(match[index])) as [
    number,
    number,
    number,
    number,
    number,
  ]
  return toDays(year, month + 1, day) * DAY + ((hours * 60 + minutes) * 60 + seconds) * 1000
}

/** Returns the days from 1970-01-01 in the Gregorian calendar (Howard Hinnant, "days_from_civil"). */
function toDays(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}
