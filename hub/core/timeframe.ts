import { fromIso, toLocal } from './clock.ts'
import { HubError } from './errors.ts'

/** A span from `since` on and before `until`, unix milliseconds; either may be open. */
export interface Timeframe {
  since?: number | undefined
  until?: number | undefined
}

export interface TimeframeWords {
  since?: string | undefined
  until?: string | undefined
  timeframe?: string | undefined
}

const DAY = 86_400_000
const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY, w: 7 * DAY }
const SPAN =
  /^(?:the\s+)?(?:last\s+|past\s+)?(\d+(?:\.\d+)?)\s*(s|m|h|d|w)(?:ec(?:onds?)?|in(?:utes?)?|(?:ou)?rs?|ays?|eeks?)?$/
const EXAMPLES = '24h, 7d, today, yesterday, this week, last week'

/**
 * Reads ISO 8601 times and words such as 7d or yesterday, in `timezone`. Throws `invalid_arguments` that
 * names what is wrong.
 */
export function readTimeframe(words: TimeframeWords, now: number, timezone: string): Timeframe {
  if (words.timeframe !== undefined) {
    if (words.since !== undefined || words.until !== undefined) {
      throw new HubError('invalid_arguments', 'timeframe: give it alone, or since and until instead')
    }
    return readWords(words.timeframe, now, timezone)
  }
  const frame = {
    since: readTime('since', words.since, timezone),
    until: readTime('until', words.until, timezone),
  }
  if (frame.since !== undefined && frame.until !== undefined && frame.since >= frame.until) {
    throw new HubError('invalid_arguments', 'until: must be later than since')
  }
  return frame
}

/** Reads a time; an `until` that is a day alone means the end of that day. */
function readTime(name: 'since' | 'until', text: string | undefined, timezone: string): number | undefined {
  if (text === undefined) return undefined
  const at = fromIso(text, timezone)
  if (at === undefined) {
    throw new HubError(
      'invalid_arguments',
      `${name}: "${text}" is no ISO 8601 time such as 2026-11-22T08:00:00Z or 2026-11-22`,
    )
  }
  return name === 'until' && /^\d{4}-\d{2}-\d{2}$/.test(text.trim()) ? addDays(at, 1, timezone) : at
}

function readWords(text: string, now: number, timezone: string): Timeframe {
  const wanted = text.trim().toLowerCase().replace(/\s+/g, ' ')
  const [, count, unit] = SPAN.exec(wanted) ?? []
  if (count !== undefined) return { since: now - Number(count) * (UNITS[unit ?? ''] ?? 0) }
  const today = startOfDay(now, timezone)
  switch (wanted) {
    case 'today':
      return { since: today }
    case 'yesterday':
      return { since: addDays(today, -1, timezone), until: today }
    case 'this week':
      return { since: addDays(today, -daysSinceMonday(now, timezone), timezone) }
    case 'last week':
      return { since: addDays(today, -daysSinceMonday(now, timezone) - 7, timezone) }
    default:
      throw new HubError(
        'invalid_arguments',
        `timeframe: "${text}" is not understood; write one such as ${EXAMPLES}`,
      )
  }
}

function startOfDay(at: number, timezone: string): number {
  return fromIso(toLocal(at, timezone).slice(4, 14), timezone) ?? at
}

/** Returns the midnight `days` days later, also where the clocks change between. */
function addDays(midnight: number, days: number, timezone: string): number {
  return startOfDay(midnight + days * DAY + DAY / 2, timezone)
}

function daysSinceMonday(at: number, timezone: string): number {
  return ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(toLocal(at, timezone).slice(0, 3))
}
