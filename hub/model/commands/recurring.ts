import { fold } from './words.ts'

/** A recurrence, before its time of day and weekdays are read. `rest` is the text without it. */
export type Recurrence =
  /** Days of a cron expression; without `days` the text names weekdays, at `from` where that is set. */
  | { kind: 'days'; days?: string; from?: number; rest: string }
  | { kind: 'cron'; cron: string; rest: string }
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
}

const NUMBERED = new RegExp(
  `(?<![\\p{L}\\p{N}])${EVERY}\\s+(?:(\\d+|\\p{L}+)\\s+)?(${Object.entries(UNITS)
    .map(([unit, words]) => `(?<${unit}>${words})`)
    .join('|')})(?![\\p{L}\\p{N}])`,
  'u',
)
const ONCE_A = new RegExp(`(?<![\\p{L}\\p{N}])${EVERY}\\s+(?=\\p{L})`, 'u')
const ADVERBS: readonly [RegExp, (rest: string) => Recurrence][] = [
  [
    /(?<!\p{L})(?:daily|taglich|quotidiennement|diariamente|giornalmente|quotidianamente|dagelijks|ежедневно)(?!\p{L})|毎日|每天/u,
    rest => ({ kind: 'days', days: '*', rest }),
  ],
  [/(?<!\p{L})(?:hourly|stundlich)(?!\p{L})/u, rest => ({ kind: 'cron', cron: '0 * * * *', rest })],
  [
    /(?<!\p{L})(?:weekly|monthly|yearly|annually|wochentlich|monatlich|jahrlich|mensuellement|毎週|每周|毎月|每月)(?!\p{L})/u,
    () => UNSUPPORTED,
  ],
]
/** Weekdays in the plural ("mondays", "montags"); the singular stays in the text for the time parser. */
const PLURAL =
  /(?<!\p{L})((?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)s(?!\p{L})/u
const PARTS_OF_DAY =
  /^(?:mornings?|evenings?|nights?|morgen|abend|matins?|soirs?|mananas?|noches?|matin[ae]|ser[ae]|utro)$/

const UNSUPPORTED: Recurrence = {
  kind: 'unclear',
  why: 'I can repeat something every so many minutes or hours, every day, or on days of the week. For anything else give a cron expression: `/call schedule_cron {"cron": "0 8 1 * *", "reason": "…"}` is at 8 on the first of each month.',
}

/**
 * Finds a recurrence in the text, or undefined. The time parser, which runs later, would read it as one time.
 */
export function findRecurrence(text: string): Recurrence | undefined {
  const folded = fold(text)
  const numbered = NUMBERED.exec(folded)
  if (numbered) return decideNumbered(text, numbered)
  for (const [words, decide] of ADVERBS) {
    const found = words.exec(folded)
    if (found) return decide(without(text, found.index, found[0].length))
  }
  const plural = PLURAL.exec(folded)
  if (plural) return { kind: 'days', rest: without(text, plural.index + (plural[1]?.length ?? 0), 1, '') }
  const once = ONCE_A.exec(folded)
  return once
    ? { kind: 'days', rest: without(text, once.index, once[0].length), from: once.index }
    : undefined
}

const DAYS: Record<string, string> = { day: '*', weekday: '1-5', weekend: '0,6' }

function decideNumbered(text: string, found: RegExpExecArray): Recurrence {
  const [whole, number, word = ''] = found
  const unit = Object.keys(UNITS).find(name => found.groups?.[name] !== undefined) ?? ''
  // A part of the day says which hour is meant, so it stays in the text: "every morning at 7".
  const kept = PARTS_OF_DAY.test(word) ? word.length : 0
  const rest = without(text, found.index, whole.length - kept)
  const count = Number(number ?? 1)
  const step = count === 1 ? '*' : `*/${count}`
  if (unit === 'minute' && 60 % count === 0) return { kind: 'cron', cron: `${step} * * * *`, rest }
  if (unit === 'hour' && 24 % count === 0) return { kind: 'cron', cron: `0 ${step} * * *`, rest }
  if (number !== undefined || unit === 'month' || unit === 'year') return UNSUPPORTED
  const days = DAYS[unit]
  return { kind: 'days', rest, ...(days !== undefined && { days }) }
}

function without(text: string, from: number, length: number, gap = ' '): string {
  return `${text.slice(0, from)}${gap}${text.slice(from + length)}`
}
