import { z } from 'zod'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const date = z.coerce.date()

/** Unix milliseconds of an ISO 8601 date or time, or undefined where it is none or says nothing (.NET's year 1). */
export function toMoment(text: string | null | undefined): number | undefined {
  if (!text || text.startsWith('0001-')) return undefined
  // .NET writes seven decimals.
  const parsed = date.safeParse(text.replace(/(\.\d{3})\d+/, '$1'))
  return parsed.success ? parsed.data.getTime() : undefined
}

/** ISO 8601 in UTC: "2026-11-22T04:36:47.000Z". */
export function toIso(at: number): string {
  return date.parse(at).toISOString()
}

/** "2026-11-22": the day that it is in the time zone. */
export function toDay(at: number, timezone: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(at)
  return ['year', 'month', 'day'].map(type => parts.find(part => part.type === type)?.value).join('-')
}

/** "2026-12-01" for "2026-11-22" and 9. */
export function addDays(day: string, days: number): string {
  return toIso((toMoment(day) ?? 0) + days * DAY).slice(0, 10)
}

/** Unix milliseconds at which a day ("2026-11-22") begins in the time zone; where clocks change at midnight, an hour later. */
export function toStartOfDay(day: string, timezone: string): number {
  const utc = toMoment(day) ?? 0
  // No zone is further than 14 hours from UTC, and their offsets are whole quarters of an hour.
  const starts = Array.from({ length: 28 * 4 + 1 }, (_, step) => utc - 14 * HOUR + (step * HOUR) / 4)
  return starts.find(at => toDay(at, timezone) === day) ?? utc
}

/** "Sun 22 Nov 2026": the day that it is in the time zone. */
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
