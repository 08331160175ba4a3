import { type Moment, readMoment, toInstant } from './moments.ts'
import { readRecurring } from './recurring.ts'
import { isAt, type Read, readSpan, type Span, skip, type Tokens, textAt, toTokens } from './time-tokens.ts'
import { addMonths, DAY, fromWall, HOUR, MINUTE, toKnownZone, toWall } from './zone.ts'

/** When something is to happen. `delay` is written as `schedule_wake` takes it; `at` is unix milliseconds. */
export type When =
  | { kind: 'delay'; delay: string; milliseconds: number }
  | { kind: 'at'; at: number }
  | { kind: 'cron'; cron: string }
  | { kind: 'refused'; why: string }

export interface Timed {
  when: When
  /** A rhythm, a length of time from now, or a point in time. */
  said: 'rhythm' | 'span' | 'moment'
  /** The words that said it. */
  phrase: string
  /** What is left of the text before and after them. */
  before: string
  after: string
}

export interface TimeFrame {
  /** Unix milliseconds. */
  now: number
  /** IANA; UTC where the platform does not know it. */
  timezone: string
  /** The text is the answer to "when?": "5 minutes" and "9" are enough. */
  bare?: boolean
}

/** What the hub takes. */
const LONGEST = 5 * 366 * DAY
const LONGEST_DELAY = 366 * DAY
const PAST: When = { kind: 'refused', why: 'I find no such time ahead' }
const TOO_FAR: When = { kind: 'refused', why: 'that is more than five years ahead' }

/** The first phrase of a text that says when, rhythms before spans before points in time; undefined without one. */
export function readWhen(text: string, frame: TimeFrame): Timed | undefined {
  const tokens = toTokens(text)
  const zoned = { ...frame, timezone: toKnownZone(frame.timezone) }
  for (const [said, read] of READERS) {
    for (let index = 0; index < tokens.length; index++) {
      const found: Read<When> = read(tokens, index, zoned)
      if (found) return { said, ...toTimed(text, tokens, index, found) }
    }
  }
  return undefined
}

const READERS: [Timed['said'], (tokens: Tokens, index: number, frame: TimeFrame) => Read<When>][] = [
  ['rhythm', readRecurring],
  ['span', readDelay],
  ['moment', readClearMoment],
  ['moment', readAnyMoment],
]

function toTimed(
  text: string,
  tokens: Tokens,
  index: number,
  found: { value: When; next: number },
): Omit<Timed, 'said'> {
  const start = tokens[index]?.start ?? 0
  const end = tokens[found.next - 1]?.end ?? text.length
  return {
    when: found.value,
    phrase: text.slice(start, end).trim(),
    before: text.slice(0, start).trim(),
    after: text.slice(end).trim(),
  }
}

/** "in 2 minutes", "after an hour", "20 minutes from now"; "in 2 days at 9" is a point in time. */
function readDelay(tokens: Tokens, index: number, frame: TimeFrame): Read<When> {
  const led = /^(?:in|after)$/.test(textAt(tokens, index))
  const span = readSpan(
    tokens,
    led ? skip(tokens, index + 1, ['about', 'around', 'exactly', 'another']) : index,
  )
  if (!span) return undefined
  const later = isAt(tokens, span.next, 'from', 'now') ? 2 : led && isAt(tokens, span.next, 'time') ? 1 : 0
  if (!led && later !== 2 && !(frame.bare && index === 0)) return undefined
  const next = span.next + later
  const days = span.value.milliseconds / DAY
  const clock = span.value.months > 0 || Number.isInteger(days) ? readMoment(tokens, next, false) : undefined
  if (clock && !clock.value.day) {
    const day = { kind: 'later' as const, days, months: Math.round(span.value.months) }
    return { value: fromMoment({ ...clock.value, day }, frame), next: clock.next }
  }
  return { value: fromSpan(span.value, frame), next }
}

function fromSpan(span: Span, { now, timezone }: TimeFrame): When {
  const months = Math.round(span.months)
  if (months > 12 * 5 || span.milliseconds > LONGEST) return TOO_FAR
  if (months > 0) {
    const at = fromWall(addMonths(toWall(now, timezone), months), timezone)
    return at === undefined ? PAST : { kind: 'at', at: at + span.milliseconds }
  }
  if (span.milliseconds > LONGEST_DELAY) return { kind: 'at', at: now + span.milliseconds }
  const milliseconds = Math.max(1000, Math.ceil(span.milliseconds / 1000) * 1000)
  return { kind: 'delay', delay: toDelay(milliseconds), milliseconds }
}

/** "90s", "30m", "2h", "1d": the largest unit that says it exactly. */
export function toDelay(milliseconds: number): string {
  if (milliseconds % DAY === 0) return `${milliseconds / DAY}d`
  if (milliseconds % HOUR === 0) return `${milliseconds / HOUR}h`
  return milliseconds % MINUTE === 0 ? `${milliseconds / MINUTE}m` : `${milliseconds / 1000}s`
}

function readClearMoment(tokens: Tokens, index: number, frame: TimeFrame): Read<When> {
  const found = readMoment(tokens, index, false)
  if (!found) return undefined
  const { day, clock } = found.value
  return day || clock?.sure ? { value: fromMoment(found.value, frame), next: found.next } : undefined
}

function readAnyMoment(tokens: Tokens, index: number, frame: TimeFrame): Read<When> {
  const found = readMoment(tokens, index, (frame.bare ?? false) && index === 0)
  return found && { value: fromMoment(found.value, frame), next: found.next }
}

function fromMoment(moment: Moment, { now, timezone }: TimeFrame): When {
  const at = toInstant(moment, now, timezone)
  if (at === undefined) return PAST
  return at - now > LONGEST ? TOO_FAR : { kind: 'at', at }
}
