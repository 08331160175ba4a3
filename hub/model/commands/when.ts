import * as chrono from 'chrono-node'
import { dayOf, fromIso, toDate, toLocal, zoneOffset } from '../../core/clock.ts'
import { findRecurrence, type Recurrence } from './recurring.ts'
import { fold } from './words.ts'

/** A time as a person wrote it; `rest` is the text without it. */
export type When =
  | { kind: 'at'; at: number; rest: string }
  | { kind: 'cron'; cron: string; rest: string }
  /** The time is not clear; `why` says so to the person. */
  | { kind: 'unclear'; why: string }
  /** The text has no time. */
  | { kind: 'none' }

export interface WhenOptions {
  now: number
  timezone: string
}

type Found = chrono.ParsedResult

const { en, de, fr, es, it, pt, nl, ru, uk, ja, zh, sv, fi, vi, id, ar } = chrono
const LANGUAGES = [en, de, fr, es, it, pt, nl, ru, uk, ja, zh, sv, fi, vi, id, ar]

const HALF_YEAR = 183 * 86_400_000
const MINUTE = 60_000

/** Reads a time or a recurrence. It never chooses between two meanings. */
export function readWhen(text: string, options: WhenOptions): When {
  const recurrence = findRecurrence(text)
  if (!recurrence) return decideOnce(text, parse(text, options), options)
  if (recurrence.kind === 'unclear') return recurrence
  const repeated = decideRepeated(recurrence, parse(recurrence.rest, options))
  // A text such as "each server" has no recurrence, but may have a time all the same.
  return repeated ?? decideOnce(text, parse(text, options), options)
}

/** Returns the times in a text, in the language that explains most of it. */
function parse(text: string, { now, timezone }: WhenOptions): Found[] {
  const reference = { instant: toDate(now), timezone: zoneOffset(now, timezone) / MINUTE }
  const lengthOf = (found: readonly Found[]) => found.reduce((sum, each) => sum + each.text.length, 0)
  return LANGUAGES.map(({ casual }) =>
    casual.parse(text, reference, { forwardDate: true }).filter(found => isWhole(text, found)),
  ).reduce((best, found) => (lengthOf(found) > lengthOf(best) ? found : best))
}

/** Tells whether a time is more than a part of a word, as the Friday in "früh" and the Monday in "mañana". */
function isWhole(text: string, { index, text: own }: Found): boolean {
  const isLatin = (letter = '') => /[\p{Script=Latin}\p{Script=Cyrillic}]/u.test(letter)
  const cut = (left: string | undefined, right: string | undefined) => isLatin(left) && isLatin(right)
  if (own.length < 3 && isLatin(own) && !/\d/.test(own)) return false
  return !cut(text[index - 1], own[0]) && !cut(own.at(-1), text[index + own.length])
}

const hasHour = ({ start }: Found) => start.isCertain('hour')
const hasDay = ({ start }: Found) => start.isCertain('day') || start.isCertain('weekday')

function decideOnce(text: string, found: readonly Found[], options: WhenOptions): When {
  const timed = found.filter(hasHour)
  const [first] = timed.length > 0 ? timed : found
  if (!first) return { kind: 'none' }
  if (timed.length === 0) {
    // Of days without a time of day only a span says enough by itself: "in 3 days".
    const isSpan = first.tags().has('result/relativeDate') && /\d|^in /i.test(first.text)
    if (!isSpan || found.length > 1) return unclear(`At what time, “${first.text}”?`)
  } else if (timed.length > 1 || first.end) {
    return unclear('I read more than one time there. When exactly?')
  } else if (!hasDay(first) && found.some(hasDay)) {
    return unclear('I read a day and a time that may not belong together. Write them side by side.')
  }
  return findDoubt(text, first, options) ?? toPoint(text, first, options)
}

/** Words beside a time that make it another one: "and a half", "or 6", "before". */
const AFTER =
  /^\s*,?\s*(?:[\d/:]|(?:or|oder|ou|или|before|after|later than|ago|vor|nach|avant|apres|antes|despues|prima|dopo)(?!\p{L})|(?:and|und|et|y|e|en)\s+(?:(?:a|an|eine?)\s+)?(?:half|halbe?|quarter|viertel|demie?|quart|media|cuarto|mezz[ao]|meia|\d))/u
const BEFORE =
  /(?:[\d.,:/]|(?<!\p{L})(?:before|after|until|till|since|bis|vor|nach|seit|jusqu'a|avant|apres|hasta|antes de|fino a|half|halb))\s*$/u

/** Returns why a time is not clear; undefined where it is clear. */
function findDoubt(text: string, found: Found, { now, timezone }: WhenOptions): When | undefined {
  if (isCut(text, found)) return unclear(notWhole(found))
  if (/\d\/\d/.test(found.text))
    return unclear('Is the day or the month first? Write the date as 2026-12-31.')
  const { start } = found
  const hour = start.get('hour') ?? 0
  const isOpen = !start.isCertain('meridiem') && hour >= 1 && hour <= 12 && /\d/.test(found.text)
  if (!isOpen || isRelative(found) || /(?<!\d)0\d/.test(found.text)) return undefined
  const at = toTime(found, now, timezone)
  const isComing = at - now < 24 * 60 * MINUTE && dayOf(at, timezone) === dayOf(now, timezone)
  if (hour >= 7 && (hasDay(found) || isComing)) return undefined
  return unclear(eitherOr(hour % 12, start.get('minute') ?? 0))
}

function isCut(text: string, found: Found): boolean {
  const folded = fold(text)
  return (
    /(?<!\p{L})(?:after|before|nach|vor|ago)(?!\p{L})/u.test(fold(found.text)) ||
    AFTER.test(folded.slice(found.index + found.text.length)) ||
    BEFORE.test(folded.slice(0, found.index))
  )
}

function notWhole({ text }: Found): string {
  return `I am not sure that “${text}” is the whole time. Write it another way.`
}

function eitherOr(hour: number, minute: number): string {
  return `Do you mean ${pad(hour)}:${pad(minute)} or ${pad(hour + 12)}:${pad(minute)}?`
}

function toPoint(text: string, found: Found, { now, timezone }: WhenOptions): When {
  const at = toTime(found, now, timezone)
  if (Number.isNaN(at)) return unclear(`There is no such time as “${found.text}”.`)
  const said = `${toLocal(at, timezone)} (${timezone})`
  if (at <= now) return unclear(`“${found.text}” is ${said}, which is past. When do you mean?`)
  if (at - now > 10 * HALF_YEAR)
    return unclear(`“${found.text}” is ${said}, which is too far away. When do you mean?`)
  if (found.start.isCertain('month') && !found.start.isCertain('year') && at - now > HALF_YEAR)
    return unclear(`“${found.text}” comes next on ${said}. Write the year if you mean that.`)
  return { kind: 'at', at, rest: cut(text, [found]) }
}

function isRelative({ start }: Found): boolean {
  return start.tags().has('result/relativeDateAndTime') && start.isCertain('second')
}

/** Converts a time to unix milliseconds: in the zone itself, since the parser counts with a fixed offset. */
function toTime(found: Found, now: number, timezone: string): number {
  const get = (part: chrono.Component) => found.start.get(part) ?? 0
  const day = `${get('year')}-${pad(get('month'))}-${pad(get('day'))}`
  const time = `${pad(get('hour'))}:${pad(get('minute'))}:${pad(get('second'))}`
  if (found.start.isCertain('timezoneOffset')) return found.start.date().getTime()
  if (isRelative(found)) return (fromIso(`${day}T${time}Z`) ?? Number.NaN) - zoneOffset(now, timezone)
  return fromIso(`${day}T${time}`, timezone) ?? Number.NaN
}

const BETWEEN = /^(?:[\s,&+]|(?<!\p{L})(?:and|und|et|y|e|en|и|och|ja|on|am|le|los|il)(?!\p{L}))*$/u

/** Decides a recurrence; undefined where the text repeats nothing after all, as in "each server". */
function decideRepeated(
  recurrence: Exclude<Recurrence, { kind: 'unclear' }>,
  found: readonly Found[],
): When | undefined {
  const { rest } = recurrence
  if (recurrence.kind === 'cron')
    return found.length > 0 ? unclear(ONE_RHYTHM) : { kind: 'cron', cron: recurrence.cron, rest: tidy(rest) }
  if (recurrence.days !== undefined) {
    const isPlain = found.length <= 1 && !found.some(hasDay)
    return decideDaily(found, isPlain, { rest, on: recurrence.days })
  }
  const { from } = recurrence
  const days = found.filter(each => each.start.isCertain('weekday'))
  const isThere = from === undefined || days.some(({ index }) => rest.slice(from, index).trim() === '')
  if (!isThere) return undefined
  if (days.length === 0) return unclear('On which day of the week?')
  const isPlain = found.every(each => days.includes(each) || hasHour(each)) && isRun(rest, found)
  return decideDaily(found, isPlain, { rest, on: days.map(({ start }) => start.get('weekday')).join(',') })
}

/** Decides the one time of day at which the given days repeat. */
function decideDaily(
  found: readonly Found[],
  isPlain: boolean,
  { rest, on }: { rest: string; on: string },
): When {
  const [time, ...others] = found.filter(hasHour)
  if (!time) return unclear('At what time of day?')
  if (!isPlain || others.length > 0 || time.end || time.start.isCertain('year')) return unclear(ONE_RHYTHM)
  const hour = time.start.get('hour') ?? 0
  const minute = time.start.get('minute') ?? 0
  const isOpen = !time.start.isCertain('meridiem') && hour >= 1 && hour < 7 && !/(?<!\d)0\d/.test(time.text)
  if (isOpen || isCut(rest, time)) return unclear(isOpen ? eitherOr(hour, minute) : notWhole(time))
  return { kind: 'cron', cron: `${minute} ${hour} * * ${on}`, rest: cut(rest, found) }
}

const ONE_RHYTHM = 'I can repeat in one rhythm, without a beginning or an end. Which one?'

/** Tells whether nothing but "and" stands between the days and their time. */
function isRun(text: string, found: readonly Found[]): boolean {
  return found.every((each, index) => {
    const before = found[index - 1]
    return !before || BETWEEN.test(fold(text.slice(before.index + before.text.length, each.index)))
  })
}

function cut(text: string, found: readonly Found[]): string {
  const kept = found.reduceRight(
    (left, each) => `${left.slice(0, each.index)} ${left.slice(each.index + each.text.length)}`,
    text,
  )
  return tidy(kept)
}

function tidy(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function unclear(why: string): When {
  return { kind: 'unclear', why }
}

function pad(value: number): string {
  return String(value).padStart(2, '0')
}
