import { z } from 'zod'

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
