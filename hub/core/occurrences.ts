import { newestOccurrences, nextOccurrence } from './schedule-plan.ts'

/** What happens with the occurrences of a schedule that the hub slept through. */
export type MissedPolicy = 'latest' | 'all' | 'skip'

/** A schedule that is due, as much of it as deciding needs. */
export interface DueSchedule {
  cron: string | null
  timezone: string
  /** When it was due first; at or before `now`. */
  nextRun: number
  missed: MissedPolicy
}

export interface Occurrences {
  /** The times that fire now, the earliest first. */
  fire: number[]
  /** The first time after `now`; undefined where the schedule is over. */
  next: number | undefined
}

/** However long the hub slept, `all` fires this many at once. */
export const MOST_MISSED = 20

/** What is later than this was slept through. */
export const ON_TIME_MS = 60_000

/** Which occurrences up to `now` fire, and when the schedule is due again. */
export function decideOccurrences(schedule: DueSchedule, now: number): Occurrences {
  const { cron, timezone, missed } = schedule
  const fire = newest(schedule, missed === 'all' ? MOST_MISSED : 1, now)
  return {
    fire: missed === 'skip' ? fire.filter(at => now - at <= ON_TIME_MS) : fire,
    next: cron === null ? undefined : nextOccurrence(cron, timezone, now),
  }
}

/** The newest occurrences from the first due one on; a one-shot has only that. */
function newest({ cron, timezone, nextRun }: DueSchedule, most: number, now: number): number[] {
  if (cron === null) return [nextRun]
  const later = newestOccurrences(cron, timezone, now, most).filter(at => at > nextRun)
  return [nextRun, ...later].slice(-most)
}
