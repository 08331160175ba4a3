import { z } from 'zod'
import { toLocal } from '../../core/clock.ts'
import { parseJson } from '../../core/json.ts'
import { isRecord } from './questions.ts'
import type { Outcome } from './results.ts'
import { areSynonyms, STOPS } from './synonyms.ts'
import { toOrdinal } from './values.ts'
import { toStems } from './words.ts'
import { toKnownZone } from './zone.ts'

/** A reminder as `list_schedules` showed it. */
export interface ListedSchedule {
  id: string
  /** What it is about and when, for a person. */
  label: string
}

const entry = z.looseObject({
  id: z.string().min(1),
  reason: z.string().optional().catch(undefined),
  cron: z.string().optional().catch(undefined),
})
const TIME_KEYS = ['nextRun', 'next_run', 'next', 'at', 'dueAt', 'due', 'runsAt', 'when']

/** The schedules in a result of `list_schedules`: from its data, else from the lines of its text. */
export function readSchedules(outcome: Outcome, timezone: string): ListedSchedule[] {
  const data = toEntries(outcome.structured) ?? toEntries(parseJson(outcome.text))
  if (data) return data.map(each => ({ id: each.id, label: toLabel(each, timezone) }))
  return outcome.text.split('\n').flatMap(line => {
    const id = /\b([a-z]{2,6}_[A-Za-z0-9-]{4,})\b/.exec(line)?.[1]
    return id === undefined
      ? []
      : [
          {
            id,
            label: line
              .replace(id, '')
              .replace(/[`*]/g, '')
              .replace(/^[\s:–|-]+/, '')
              .trim(),
          },
        ]
  })
}

function toEntries(value: unknown): z.infer<typeof entry>[] | undefined {
  const list = Array.isArray(value)
    ? value
    : isRecord(value)
      ? Object.values(value).find(Array.isArray)
      : undefined
  if (!Array.isArray(list)) return undefined
  return list.flatMap(each => {
    const parsed = entry.safeParse(each)
    return parsed.success ? [parsed.data] : []
  })
}

function toLabel(each: z.infer<typeof entry>, timezone: string): string {
  const time = TIME_KEYS.map(key => each[key]).find(
    value => typeof value === 'number' || typeof value === 'string',
  )
  const next =
    typeof time === 'number' && Number.isFinite(time) && Math.abs(time) < 8e15
      ? toLocal(time, toKnownZone(timezone))
      : time
  const when = [each.cron, next].filter(part => part !== undefined).join(', ')
  return `${each.reason ?? each.id}${when === '' ? '' : ` (${when})`}`
}

/** The one schedule that the words mean; undefined where none or several fit. */
export function pickSchedule(words: string, schedules: ListedSchedule[]): ListedSchedule | undefined {
  const byId = schedules.find(schedule => words.includes(schedule.id))
  if (byId) return byId
  const ordinal = toOrdinal(words, schedules.length)
  if (ordinal !== undefined) return schedules[ordinal]
  const told = tellingStems(words)
  if (told.length === 0) return schedules.length === 1 ? schedules[0] : undefined
  const scored = schedules
    .map(schedule => ({ schedule, score: fitOf(told, toStems(schedule.label)) }))
    .sort((a, b) => b.score - a.score)
  const [best, next] = scored
  return best && best.score > 0 && best.score > (next?.score ?? 0) ? best.schedule : undefined
}

function tellingStems(words: string): string[] {
  return toStems(words).filter(part => !STOPS.has(part) && part !== 'all')
}

function fitOf(told: string[], label: string[]): number {
  return told.reduce((sum, word) => {
    if (label.includes(word)) return sum + 1
    return sum + (label.some(part => areSynonyms(part, word)) ? 0.5 : 0)
  }, 0)
}
