import { fold } from './words.ts'

/** A recurrence, before its time of day and weekdays are read. `rest` is the text without it. */
export type Recurrence =
  | { kind: 'days'; days: string; rest: string }
  /** `from` is the index in `rest` where a day of the week has to stand; missing for any index. */
  | { kind: 'weekdays'; rest: string; from?: number }
  | { kind: 'cron'; cron: string; label: string; rest: string }
  | { kind: 'unclear'; why: string }

const EVERY =
  '(?:every|each|jede[nrsm]?|alle|chaque|tous les|toutes les|cada|tod[oa]s? (?:[oa]s|los|las)|tod[oa]s?|ogni|tutt[ie] (?:i|le|gli)|elke?|iedere?|кажд\\p{L}+|varje|joka)'
const UNITS = {
  minute: 'min(?:ute|uten|utes|uto|utos|uti|uut|uten)?s?|минут\\p{L}*',
  hour: 'hours?|stunden?|heures?|horas?|or[ae]|u(?:ur|ren)|час\\p{L}*',
  weekday:
    'weekdays?|workdays?|working days?|werktage?|wochentage?|arbeitstage?|jours? ouvr\\p{L}+|dias? (?:laborable|util)s?',
  weekend: 'weekends?|wochenenden?|week-ends?|fins? de semana',
  day: 'days?|tage?|jours?|dias?|giorn[oi]|dag(?:en)?|день|дня|mornings?|evenings?|nights?|morgen|abend|matins?|soirs?|mananas?|noches?|matin[ae]|ser[ae]|utro',
  week: 'weeks?|wochen?|semaines?|semanas?|settiman[ae]|wek?en?|недел\\p{L}+',
  month: 'months?|monate?|mois|mes(?:es)?|mes[ei]|maand(?:en)?|месяц\\p{L}*',
  year: 'years?|jahre?|ans?|annees?|anos?|ann[oi]|jaar|год\\p{L}*',
} as const
type Unit = keyof typeof UNITS

const NUMBERED = new RegExp(
  `(?<![\\p{L}\\p{N}])${EVERY}\\s+(?:(\\d+|other|second|third|zweite[nrs]?|dritte[nrs]?|autre|deux|two|three|zwei|drei)\\s+)?(${Object.entries(
    UNITS,
  )
    .map(([unit, words]) => `(?<${unit}>${words})`)
    .join('|')})(?![\\p{L}\\p{N}])`,
  'u',
)
const ONCE_A = new RegExp(`(?<![\\p{L}\\p{N}])${EVERY}\\s+(?=\\p{L})`, 'u')
const DAILY =
  /(?<!\p{L})(?:daily|taglich|quotidiennement|diariamente|giornalmente|quotidianamente|dagelijks|ежедневно)(?!\p{L})|毎日|每天/u
const HOURLY = /(?<!\p{L})(?:hourly|stundlich)(?!\p{L})/u
const SELDOM =
  /(?<!\p{L})(?:weekly|monthly|yearly|annually|wochentlich|monatlich|jahrlich|mensuellement|毎週|每周|毎月|每月)(?!\p{L})/u
/** Weekdays in the plural ("mondays", "montags"); the singular stays in the text for the time parser. */
const PLURAL =
  /(?<!\p{L})((?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)s(?!\p{L})/u
const PARTS_OF_DAY =
  /^(?:mornings?|evenings?|nights?|morgen|abend|matins?|soirs?|mananas?|noches?|matin[ae]|ser[ae]|utro)$/

/**
 * Finds a recurrence in the text, or undefined. The time parser, which runs later, would read it as one time.
 */
export function findRecurrence(text: string): Recurrence | undefined {
  const folded = fold(text)
  const numbered = NUMBERED.exec(folded)
  if (numbered) return decideNumbered(text, numbered)
  for (const [words, decide] of [
    [DAILY, toDaily],
    [HOURLY, toHourly],
  ] as const) {
    const found = words.exec(folded)
    if (found) return decide(without(text, found.index, found[0].length))
  }
  const seldom = SELDOM.exec(folded)
  if (seldom) return { kind: 'unclear', why: UNSUPPORTED }
  const plural = PLURAL.exec(folded)
  if (plural) return { kind: 'weekdays', rest: without(text, plural.index + (plural[1]?.length ?? 0), 1, '') }
  const once = ONCE_A.exec(folded)
  return once
    ? { kind: 'weekdays', rest: without(text, once.index, once[0].length), from: once.index }
    : undefined
}

const UNSUPPORTED =
  'I can repeat something every so many minutes or hours, every day, or on days of the week. For anything else give a cron expression: `/call schedule_cron {"cron": "0 8 1 * *", "reason": "…"}` is at 8 on the first of each month.'

function toDaily(rest: string): Recurrence {
  return { kind: 'days', days: '*', rest }
}

function toHourly(rest: string): Recurrence {
  return { kind: 'cron', cron: '0 * * * *', label: 'every hour', rest }
}

function decideNumbered(text: string, found: RegExpExecArray): Recurrence {
  const [whole, number, word = ''] = found
  const unit = Object.keys(UNITS).find((name): name is Unit => found.groups?.[name] !== undefined)
  // A part of the day says which hour is meant, so it stays in the text: "every morning at 7".
  const kept = PARTS_OF_DAY.test(word) ? word.length : 0
  const rest = without(text, found.index, whole.length - kept)
  const count = number === undefined ? 1 : Number(number)
  if (unit === 'minute' && 60 % count === 0)
    return {
      kind: 'cron',
      cron: count === 1 ? '* * * * *' : `*/${count} * * * *`,
      label: toEvery(count, 'minute'),
      rest,
    }
  if (unit === 'hour' && 24 % count === 0)
    return {
      kind: 'cron',
      cron: `0 ${count === 1 ? '*' : `*/${count}`} * * *`,
      label: toEvery(count, 'hour'),
      rest,
    }
  if (number !== undefined) return { kind: 'unclear', why: UNSUPPORTED }
  if (unit === 'day') return toDaily(rest)
  if (unit === 'weekday') return { kind: 'days', days: '1-5', rest }
  if (unit === 'weekend') return { kind: 'days', days: '0,6', rest }
  return unit === 'week' ? { kind: 'weekdays', rest } : { kind: 'unclear', why: UNSUPPORTED }
}

function toEvery(count: number, unit: string): string {
  return count === 1 ? `every ${unit}` : `every ${count} ${unit}s`
}

function without(text: string, from: number, length: number, gap = ' '): string {
  return `${text.slice(0, from)}${gap}${text.slice(from + length)}`
}
