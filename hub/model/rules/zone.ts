import { fromIso, isTimezone } from '../../core/clock.ts'

/** What a clock and a calendar on a wall show. `month` is 1 to 12, `weekday` 0 (Sunday) to 6. */
export interface Wall {
  year: number
  month: number
  day: number
  hour: number
  minute: number
}

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The zone itself, or UTC where the platform does not know it. */
export function toKnownZone(timezone: string): string {
  return isTimezone(timezone) ? timezone : 'UTC'
}

/** The wall time of unix milliseconds in a zone; seconds are cut off. */
export function toWall(at: number, timezone: string): Wall {
  const format = new Intl.DateTimeFormat('en-u-ca-iso8601', {
    timeZone: timezone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  })
  const parts = new Map(format.formatToParts(at).map(part => [part.type, Number(part.value)]))
  const get = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  return { year: get('year'), month: get('month'), day: get('day'), hour: get('hour'), minute: get('minute') }
}

/**
 * Unix milliseconds of a wall time in a zone; undefined where there is no such date. A time that comes twice (clocks
 * go back) is its first; one that is skipped (clocks go forward) is as much later as was skipped, as in RFC 5545.
 */
export function fromWall(wall: Wall, timezone: string): number | undefined {
  const guess = asUtc(wall)
  if (guess === undefined) return undefined
  const before = guess - offsetAt(guess - DAY, timezone)
  const after = guess - offsetAt(guess + DAY, timezone)
  const real = [before, after].filter(at => asUtc(toWall(at, timezone)) === guess)
  return real.length > 0 ? Math.min(...real) : before
}

/** The date some days later, at the same wall time. */
export function addDays(wall: Wall, days: number): Wall {
  const at = asUtc(wall)
  return at === undefined ? wall : toWall(at + days * DAY, 'UTC')
}

/** The same day some months later, or that month's last. */
export function addMonths(wall: Wall, months: number): Wall {
  const index = wall.year * 12 + wall.month - 1 + months
  const moved = { ...wall, year: Math.floor(index / 12), month: (index % 12) + 1 }
  const days = [wall.day, 30, 29, 28].filter(day => day <= wall.day)
  return days.map(day => ({ ...moved, day })).find(each => asUtc(each) !== undefined) ?? moved
}

/** 0 (Sunday) to 6. */
export function weekdayOf(wall: Wall): number {
  const days = Math.floor((asUtc({ ...wall, hour: 0, minute: 0 }) ?? 0) / DAY)
  return (((days + 4) % 7) + 7) % 7 // 1970-01-01 was a Thursday
}

/** How far the zone's clocks are ahead of UTC, in milliseconds. */
function offsetAt(at: number, timezone: string): number {
  return (asUtc(toWall(at, timezone)) ?? at) - Math.floor(at / MINUTE) * MINUTE
}

/** Unix milliseconds of the wall time if it were UTC; undefined for the 30th of February. */
function asUtc(wall: Wall): number | undefined {
  const two = (value: number) => String(value).padStart(2, '0')
  const date = `${String(wall.year).padStart(4, '0')}-${two(wall.month)}-${two(wall.day)}`
  const at = fromIso(`${date}T${two(wall.hour)}:${two(wall.minute)}:00Z`)
  if (at === undefined) return undefined
  return daysInMonth(wall.year, wall.month) >= wall.day ? at : undefined
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}
