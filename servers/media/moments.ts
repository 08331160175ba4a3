import { parseTime, toIsoTime } from '../kit/clock.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Returns the day in the time zone: "2026-11-22". */
export function toDay(at: number, timezone: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(at)
  return ['year', 'month', 'day'].map(type => parts.find(part => part.type === type)?.value).join('-')
}

/** Adds days to a day: "2026-12-01" for "2026-11-22" and 9. */
export function addDays(day: string, days: number): string {
  return toIsoTime((parseTime(day) ?? 0) + days * DAY).slice(0, 10)
}

/**
 * Returns the unix milliseconds at which a day ("2026-11-22") begins in the time zone; an hour later if
 * clocks go forward at midnight.
 */
export function toStartOfDay(day: string, timezone: string): number {
  const utc = parseTime(day) ?? 0
  // No zone is further than 14 hours from UTC, and all offsets are whole quarters of an hour.
  const starts = Array.from({ length: 28 * 4 + 1 }, (_, step) => utc - 14 * HOUR + (step * HOUR) / 4)
  return starts.find(at => toDay(at, timezone) === day) ?? utc
}

/** Returns the day in the time zone: "Sun 22 Nov 2026". */
export function toDayText(at: number, timezone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  })
  return format.format(at).replace(',', '')
}
