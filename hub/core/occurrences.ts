import { newestOccurrences, nextOccurrence } from './schedule-plan.ts'

/** Rule for the occurrences of a schedule that passed while the hub did not run. */
export type MissedPolicy = 'latest' | 'all' | 'skip'

/** A schedule that is due, with the fields that the decision needs. */
export interface DueSchedule {
  cron: string | null
  timezone: string
  /** When it was first due; at or before `now`. */
  nextRun: number
  missed: MissedPolicy
}

export interface Occurrences {
  /** Times that fire now, the earliest first. */
  fire: number[]
  /** First time after `now`; undefined where the schedule is over. */
  next: number | undefined
}

/** Most occurrences that `all` fires at once, however long the hub did not run. */
export const MOST_MISSED = 20

/** Milliseconds after which an occurrence counts as missed. */
export const ON_TIME_MS = 60_000

/** Decides which occurrences up to `now` fire, and when the schedule is due again. */
export function decideOccurrences(schedule: DueSchedule, now: number): Occurrences {
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
