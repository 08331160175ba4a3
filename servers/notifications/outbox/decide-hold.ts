import type { ChannelRules, QuietHours } from '../config/channel-entry.ts'
import type { Severity } from '../message.ts'
import type { Hold } from './row.ts'

const MINUTE = 60_000
const DAY_MINUTES = 1440

export interface HoldFacts {
  now: number
  severity: Severity
  rules: Pick<ChannelRules, 'quietHours' | 'limit'>
  /** Times at which the channel's last messages were sent, newest first; at least as many as its limit. */
  sentAt: readonly number[]
  /** Unix milliseconds until which the upstream asked to wait. */
  askedToWaitUntil?: number | undefined
}

/** Decides whether a message has to wait, until when and why. */
export function decideHold(facts: HoldFacts): { until: number; hold: Hold } | undefined {
  const { now, severity, rules, sentAt, askedToWaitUntil } = facts
  const quietUntil = decideQuiet(now, severity, rules.quietHours)
  if (quietUntil !== undefined) return { until: quietUntil, hold: 'quiet' }
  if (askedToWaitUntil !== undefined && askedToWaitUntil > now)
    return { until: askedToWaitUntil, hold: 'upstream' }
  const { count, per } = rules.limit
  const recent = sentAt.filter(at => at > now - per && at <= now)
  const oldest = recent[count - 1]
  return oldest === undefined ? undefined : { until: oldest + per, hold: 'rate' }
}

/**
 * Returns when the current quiet hours end; undefined if `now` is outside them, or the severity ignores them.
 */
export function decideQuiet(
  now: number,
  severity: Severity,
  quiet: QuietHours | undefined,
): number | undefined {
  if (quiet === undefined) return undefined
  if (severity === 'critical' && quiet.critical === 'pass') return undefined
  const { from, to, timezone } = quiet
  const minute = toMinuteOfDay(now, timezone)
  const isInside = from < to ? minute >= from && minute < to : minute >= from || minute < to
  if (!isInside) return undefined
  const end = now - (now % MINUTE) + ((to - minute + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES) * MINUTE
  // A clock change in between moves the same wall clock time by an hour.
  const off = toMinuteOfDay(end, timezone) - (to % DAY_MINUTES)
  const turned = off > DAY_MINUTES / 2 ? off - DAY_MINUTES : off < -DAY_MINUTES / 2 ? off + DAY_MINUTES : off
  return Math.max(now + MINUTE - (now % MINUTE), end - turned * MINUTE)
}

/** Minutes since midnight on the wall clock there. */
function toMinuteOfDay(at: number, timezone: string): number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
  return (parts.get('hour') ?? 0) * 60 + (parts.get('minute') ?? 0)
}
