import { Cron } from 'croner'
import ms, { type StringValue } from 'ms'
import type { EventWanted } from '../../schemas/inbox.ts'
import { isTimezone } from '../../schemas/timezone.ts'
import { fromIso, toIso, toLocal } from './clock.ts'
import { HubError } from './errors.ts'

/** A request for a schedule: exactly one of delay, at and cron. */
export interface ScheduleAsk {
  /** "90s", "30m", "2h", "1d", or "on_event": only an event wakes the agent, no time. */
  delay?: string | undefined
  /** ISO 8601. */
  at?: string | undefined
  cron?: string | undefined
  timezone?: string | undefined
  wakeOnEvents?: EventWanted[] | undefined
}

const LONGEST_DELAY = 366 * 24 * 3_600_000

/**
 * Returns a schedule with its first run, null where only an event fires it. Throws `invalid_arguments`, which names
 * the mistake and shows a right form.
 */
export function planSchedule(ask: ScheduleAsk, now: number, defaultTimezone: string) {
  const timezone = ask.timezone ?? defaultTimezone
  if (!isTimezone(timezone)) throw invalid(`timezone: ${timezone} is not an IANA zone such as Europe/Berlin`)
  const asked = [ask.delay, ask.at, ask.cron].filter(value => value !== undefined)
  if (asked.length !== 1) throw invalid('give exactly one of delay ("30m"), at (ISO 8601) and cron')
  if (ask.cron !== undefined) {
    const first = nextOccurrence(ask.cron, timezone, now)
    if (first === undefined) throw invalid(`cron: "${ask.cron}" never comes again`)
    return { kind: 'cron' as const, cron: ask.cron, timezone, nextRun: first }
  }
  if (ask.delay === 'on_event') {
    if (!ask.wakeOnEvents?.length) throw invalid('delay "on_event" needs wake_on_events: which events?')
    return { kind: 'once' as const, cron: null, timezone, nextRun: null }
  }
  const nextRun = ask.at === undefined ? now + parseDelay(ask.delay ?? '') : parseAt(ask.at, now, timezone)
  return { kind: 'once' as const, cron: null, timezone, nextRun }
}

/**
 * Returns the first occurrence of a cron expression after `after`, or undefined where it never occurs again
 * (an expression may name a year). Throws `invalid_arguments` for what is no cron expression.
 */
export function nextOccurrence(cron: string, timezone: string, after: number): number | undefined {
  return parseCron(cron, timezone).nextRun(toIso(after))?.getTime()
}

/** Returns the newest occurrences at or before `until`, at most `count`, the earliest first. */
export function newestOccurrences(cron: string, timezone: string, until: number, count: number): number[] {
  return parseCron(cron, timezone)
    .previousRuns(count, toIso(until + 1))
    .map(at => at.getTime())
    .reverse()
}

function parseCron(cron: string, timezone: string): Cron {
  try {
    return new Cron(cron, { timezone, paused: true })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw invalid(`cron: "${cron}" is no cron expression such as "0 8 * * *" (${why})`, error)
  }
}

function parseDelay(text: string): number {
  const delay = /^\s*\d+(\.\d+)?\s*[a-z]+\s*$/i.test(text) ? ms(text.trim() as StringValue) : undefined
  if (delay === undefined || Number.isNaN(delay) || delay <= 0) {
    throw invalid(`delay: "${text}" is not a time span such as "90s", "30m", "2h" or "1d"`)
  }
  if (delay > LONGEST_DELAY) throw invalid(`delay: "${text}" is over a year`)
  return Math.ceil(delay)
}

/** Reads a time; one without a zone of its own is in the schedule's. */
function parseAt(text: string, now: number, timezone: string): number {
  const at = fromIso(text, timezone)
  if (at === undefined)
    throw invalid(`at: "${text}" is not an ISO 8601 time such as ${toIso(now + 3_600_000)}`)
  if (at <= now) throw invalid(`at: ${text} is past; it is ${toIso(now)} now`)
  if (at - now > 5 * LONGEST_DELAY) throw invalid(`at: ${text} is over five years away`)
  return at
}

function invalid(message: string, cause?: unknown): HubError {
  return new HubError('invalid_arguments', message, cause === undefined ? undefined : { cause })
}

/** Describes a run: "at Sat 2026-11-21 23:42 (Europe/Berlin)", "only when one of its events happens". */
export function describeNextRun(nextRun: number | null, timezone: string): string {
  return nextRun === null
    ? 'only when one of its events happens'
    : `at ${toLocal(nextRun, timezone)} (${timezone})`
}

/** Rule for the occurrences of a schedule that passed while the hub did not run. */
export type MissedPolicy = 'latest' | 'all' | 'skip'

export interface DueSchedule {
  cron: string | null
  timezone: string
  /** When it was first due; at or before `now`. */
  nextRun: number
  missed: MissedPolicy
}

/** Most occurrences that `all` fires at once, however long the hub did not run. */
export const MOST_MISSED = 20

/** Milliseconds after which an occurrence counts as missed. */
export const ON_TIME_MS = 60_000

/**
 * Decides which occurrences up to `now` fire, the earliest first, and when the schedule is due again: undefined
 * where it is over.
 */
export function decideOccurrences(schedule: DueSchedule, now: number) {
  const { cron, timezone, missed } = schedule
  const fire = newest(schedule, missed === 'all' ? MOST_MISSED : 1, now)
  return {
    fire: missed === 'skip' ? fire.filter(at => now - at <= ON_TIME_MS) : fire,
    next: cron === null ? undefined : nextOccurrence(cron, timezone, now),
  }
}

/** Returns the newest occurrences from the first due one on; a one-shot has only that one. */
function newest({ cron, timezone, nextRun }: DueSchedule, most: number, now: number): number[] {
  if (cron === null) return [nextRun]
  const later = newestOccurrences(cron, timezone, now, most).filter(at => at > nextRun)
  return [nextRun, ...later].slice(-most)
}
