import { z } from 'zod'
import { fromIso } from '../../core/clock.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const retryInfo = z.object({ details: z.array(z.object({ retryDelay: z.string().optional() })) })

/**
 * Returns the milliseconds that a response asks to wait: `retry-after-ms`, else `retry-after` in seconds or
 * as an HTTP date, else the `RetryInfo` of Google's error.
 */
export function toRetryAfter(headers: Headers, error: unknown, now: number): number | undefined {
  const inMs = toNumber(headers.get('retry-after-ms'))
  if (inMs !== undefined) return inMs
  const text = headers.get('retry-after')
  const seconds = toNumber(text) ?? toNumber(toDelay(error)?.replace(/s$/, ''))
  if (seconds !== undefined) return seconds * 1000
  const at = text ? fromHttpDate(text) : undefined
  return at === undefined ? undefined : Math.max(0, at - now)
}

function toDelay(error: unknown): string | undefined {
  return retryInfo.safeParse(error).data?.details.find(({ retryDelay }) => retryDelay)?.retryDelay
}

function toNumber(text: string | null | undefined): number | undefined {
  return text && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}

/** Returns unix milliseconds of an IMF-fixdate (RFC 9110, 5.6.7), the one form that servers may send. */
function fromHttpDate(text: string): number | undefined {
  const match = /^\w{3}, (\d{2}) (\w{3}) (\d{4}) (\d{2}:\d{2}:\d{2}) GMT$/.exec(text.trim())
  if (!match) return undefined
  const [, day, name = '', year, time] = match
  const month = String(MONTHS.indexOf(name) + 1).padStart(2, '0')
  return fromIso(`${year}-${month}-${day}T${time}Z`)
}
