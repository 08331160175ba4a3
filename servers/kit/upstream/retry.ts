import { decideBackOff, parseHttpDate } from '../clock.ts'
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
  return decideBackOff(retries + 1, FIRST_DELAY, LONGEST_WAIT, random)
}

/** Reads a `Retry-After` header as milliseconds: seconds or a date; undefined if it is neither. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Number(header) * 1000
  const date = parseHttpDate(header)
  return date === undefined ? undefined : Math.max(0, date - now)
}
