import type { Clock } from '../../schemas/clock.ts'

export { type Clock, MAX_DELAY, sleep, systemClock } from '../../schemas/clock.ts'

export interface Deadline {
  readonly signal: AbortSignal
  /**
   * Pauses the deadline until the returned function is called, once; that returns the pause in milliseconds.
   */
  hold(): () => number
  cancel(): void
}

/** Returns a signal that aborts with a TimeoutError after `delay` milliseconds, pauses not counted. */
export function timeoutSignal(clock: Clock, delay: number, what: string): Deadline {
  const controller = new AbortController()
  const onOver = () =>
    controller.abort(
      new DOMException(`${what} took longer than ${Math.round(delay / 1000)} s`, 'TimeoutError'),
    )
  let left = delay
  let since = clock.monotonic()
  let holds = 0
  let cancel: (() => void) | undefined = clock.after(left, onOver)
  /** Returns the milliseconds since the deadline last started or paused. */
  const turn = () => {
    const before = since
    since = clock.monotonic()
    return since - before
  }
  return {
    signal: controller.signal,
    hold() {
      if (holds++ === 0) {
        cancel?.()
        left -= turn()
      }
      return () => {
        if (--holds > 0) return 0
        const held = turn()
        if (cancel && !controller.signal.aborted) cancel = clock.after(left, onOver)
        return held
      }
    },
    cancel() {
      cancel?.()
      cancel = undefined
    },
  }
}

/** Returns ISO 8601 in UTC, without milliseconds where they are zero. */
export function toIso(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z')
}

/** Returns the time as a `Date`, for a library that takes no number. */
export function toDate(at: number): Date {
  return new Date(at)
}

const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i

/**
 * Returns the unix milliseconds of an ISO 8601 time, or undefined where the text is none. A time without a
 * zone is read in `timezone`; a date alone is its midnight. A time that the clocks skip counts as the one an
 * hour later.
 */
export function fromIso(text: string, timezone = systemTimezone()): number | undefined {
  const [, date = '', time = '00:00', zone] = ISO.exec(text.trim()) ?? []
  const midnight = Date.parse(`${date}T00:00:00Z`)
  // `Date.parse` takes the 31st of February for the 3rd of March.
  if (Number.isNaN(midnight) || !toIso(midnight).startsWith(date)) return undefined
  const at = Date.parse(`${date}T${time}${zone ?? 'Z'}`)
  if (Number.isNaN(at)) return undefined
  if (zone) return at
  const guess = at - zoneOffset(at, timezone)
  return at - zoneOffset(guess, timezone)
}

/** Returns unix milliseconds of an IMF-fixdate (RFC 9110, 5.6.7), the one form that servers may send. */
export function fromHttpDate(text: string): number | undefined {
  return /^\s*\w{3}, .* GMT\s*$/.test(text) ? Date.parse(text) || undefined : undefined
}

/** Returns how many milliseconds the clocks of `timezone` are ahead of UTC at a time. */
export function zoneOffset(at: number, timezone: string): number {
  const name = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' })
    .formatToParts(new Date(at))
    .find(part => part.type === 'timeZoneName')?.value
  const [, sign, hours, minutes, seconds] = /([+-])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(name ?? '') ?? []
  const span = ((Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0)) * 1000
  return sign === '-' ? -span : span
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Caches formats: making one takes a hundred times as long as using it, and there are few zones. */
function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone)
  if (known) return known
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  formats.set(timezone, made)
  return made
}

/** Returns the time as a person in `timezone` reads it: "Sat 2026-11-21 23:40". */
export function toLocal(at: number, timezone: string): string {
  const parts = Object.fromEntries(
    formatOf(timezone)
      .formatToParts(new Date(at))
      .map(part => [part.type, part.value]),
  )
  return `${parts.weekday} ${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}`
}

const DAY_MS = 86_400_000

/** Returns the date in `timezone`: `2026-11-22`. */
export function dayOf(at: number, timezone: string): string {
  return toLocal(at, timezone).slice(4, 14)
}

/** Returns when the next day of `timezone` begins, unix milliseconds; always later than `at`. */
export function nextDayStart(at: number, timezone: string): number {
  const date = toIso(Date.parse(`${dayOf(at, timezone)}T00:00:00Z`) + DAY_MS).slice(0, 10)
  const start = fromIso(date, timezone)
  return start !== undefined && start > at ? start : at + DAY_MS
}

let ofSystem: string | undefined

/** Returns the system's IANA time zone, cached: finding it out takes longer than many of its uses. */
export function systemTimezone(): string {
  ofSystem ??= Intl.DateTimeFormat().resolvedOptions().timeZone
  return ofSystem
}
