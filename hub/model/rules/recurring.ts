import { type ClockTime, type Period, readClock, readPeriod, toTime } from './clock-times.ts'
import { ORDINAL_ENDINGS, toWeekday } from './moments.ts'
import {
  isAt,
  type Read,
  readNumber,
  readSpan,
  type Span,
  skip,
  type Tokens,
  textAt,
  toUnit,
} from './time-tokens.ts'
import { DAY, HOUR, MINUTE } from './zone.ts'

/** A rhythm as five cron fields, or why there is none. */
export type Rhythm = { kind: 'cron'; cron: string } | { kind: 'refused'; why: string }

/** The parts of a rhythm; without `minutes` it is at times of the day. */
interface Rule {
  minutes?: string
  /** Every how many: 2 is every other hour. */
  hours?: number
  /** The hours within which, such as "9-17". */
  window?: string
  day?: string
  weekdays?: string
  period?: Period
  why?: string
}

const ADVERBS: Record<string, Rule> = {
  hourly: { minutes: '0' },
  daily: {},
  everyday: {},
  nightly: { period: 'night' },
  weekly: { weekdays: '1' },
  monthly: { day: '1' },
}
const DAYS: Record<string, string> = { weekday: '1-5', workday: '1-5', 'work day': '1-5', weekend: '0,6' }
const AT = ['at', 'around', 'about', '@', 'on', 'the']

/** "every day at 8", "every Monday and Thursday at 9:30", "every 15 minutes", "weekdays at 7", "hourly". */
export function readRecurring(tokens: Tokens, index: number): Read<Rhythm> {
  const early = readTimes(tokens, index)
  return (early && readRhythm(tokens, early.next, early.value)) ?? readRhythm(tokens, index)
}

function readRhythm(tokens: Tokens, index: number, early?: Times): Read<Rhythm> {
  const rule = readRule(tokens, skip(tokens, index, early ? ['on', ','] : ['on']))
  if (!rule) return undefined
  const days = readLateDays(tokens, rule.next, rule.value)
  const window = readHours(tokens, days.next, rule.value.minutes !== '0')
  const times = early ? undefined : readTimes(tokens, window?.next ?? days.next)
  const next = times?.next ?? window?.next ?? days.next
  const late = readLateDays(tokens, next, days.value)
  const said = early ?? times?.value
  return { value: toRhythm({ ...late.value, ...window?.value }, said ?? { clocks: [] }), next: late.next }
}

function readRule(tokens: Tokens, index: number): Read<Rule> {
  const word = textAt(tokens, index)
  if (Object.hasOwn(ADVERBS, word)) return { value: ADVERBS[word] ?? {}, next: index + 1 }
  if (word === 'every' || word === 'each') return readEvery(tokens, skip(tokens, index + 1, ['single']))
  const days = /s$/.test(word) ? readDays(tokens, index) : readOfEveryMonth(tokens, index)
  return days ?? readTimesA(tokens, index)
}

/** "once a day"; "twice a day" says too little. */
function readTimesA(tokens: Tokens, index: number): Read<Rule> {
  const word = textAt(tokens, index)
  const number = readNumber(tokens, index)
  const counted = number && isAt(tokens, number.next, 'times') ? number.next + 1 : undefined
  const at = word === 'once' || word === 'twice' ? index + 1 : counted
  if (at === undefined || !/^(?:an?|per|every|each)$/.test(textAt(tokens, at))) return undefined
  const every = readEvery(tokens, at + 1)
  if (!every || word === 'once') return every
  return { value: { why: 'I need the times of the day, as in “every day at 8 and 20”' }, next: every.next }
}

/** "the 5th of every month" */
function readOfEveryMonth(tokens: Tokens, index: number): Read<Rule> {
  const found = readMonthDay(tokens, skip(tokens, index, ['the']))
  const words = tokens.slice(index, found?.next).map(token => token.text)
  return words.includes('every') || words.includes('each') ? found : undefined
}

function readEvery(tokens: Tokens, index: number): Read<Rule> {
  const days = readDays(tokens, index)
  if (days) return days
  const period = readPeriod(tokens, index)
  if (period) return { value: { period: period.value }, next: period.next }
  const noon = readClock(tokens, index)
  if (/^(?:noon|midday|midnight)$/.test(textAt(tokens, index)) && noon) return { value: {}, next: index }
  const other =
    /^(?:other|second)$/.test(textAt(tokens, index)) && toUnit(textAt(tokens, index + 1)) !== undefined
  const span = readSpan(tokens, other ? index + 1 : index, true)
  if (span) return { value: toRule(other ? 2 : 1, span.value), next: span.next }
  return readMonthDay(tokens, index)
}

function toRule(times: number, { milliseconds, months }: Span): Rule {
  if (months > 0)
    return times * months === 1 && milliseconds === 0
      ? { day: '1' }
      : { why: 'every month is the longest rhythm I can set' }
  const span = times * milliseconds
  if (span < MINUTE || span % MINUTE !== 0)
    return { why: 'the shortest rhythm is every minute, in whole minutes' }
  if (span < HOUR) {
    const minutes = span / MINUTE
    if (60 % minutes !== 0)
      return { why: `${minutes} minutes do not fill an hour evenly; 5, 10, 15, 20 or 30 do` }
    return { minutes: minutes === 1 ? '*' : `*/${minutes}` }
  }
  if (span < DAY) return toHours(span / HOUR)
  if (span === DAY) return {}
  if (span === 7 * DAY) return { weekdays: '1' }
  return { why: 'of longer rhythms I can set every day, certain days of the week, and every month' }
}

const EVEN_HOURS = [1, 2, 3, 4, 6, 8, 12, 24]

function toHours(hours: number): Rule {
  if (Number.isInteger(hours)) {
    if (24 % hours === 0) return { minutes: '0', ...(hours === 1 ? {} : { hours }) }
    return { why: `${hours} hours do not fill a day evenly; 2, 3, 4, 6, 8 or 12 do` }
  }
  const nearest = [EVEN_HOURS.findLast(even => even < hours), EVEN_HOURS.find(even => even > hours)]
  const [shorter, longer] = nearest.map(even =>
    even === 1 ? 'every hour' : even === 24 ? 'every day' : `every ${even} hours`,
  )
  return { why: `above an hour I can only set whole hours; the nearest are ${shorter} and ${longer}` }
}

/** "Monday", "mon, wed and fri", "weekdays", "weekend". */
function readDays(tokens: Tokens, index: number): Read<Rule> {
  const days: string[] = []
  let next = index
  for (;;) {
    const at = days.length > 0 ? skip(tokens, next, ['and', ',', 'on', 'every']) : next
    const day = readDayName(tokens, at)
    if (!day) break
    days.push(day.value)
    next = day.next
  }
  return days.length > 0 ? { value: { weekdays: [...new Set(days)].sort().join(',') }, next } : undefined
}

function readDayName(tokens: Tokens, at: number): Read<string> {
  const word = textAt(tokens, at).replace(/s$/, '')
  const two = `${word} ${textAt(tokens, at + 1).replace(/s$/, '')}`
  if (Object.hasOwn(DAYS, two)) return { value: DAYS[two] ?? '', next: at + 2 }
  if (Object.hasOwn(DAYS, word)) return { value: DAYS[word] ?? '', next: at + 1 }
  const weekday = toWeekday(word, true)
  return weekday === undefined ? undefined : { value: String(weekday), next: at + 1 }
}

/** "every month on the 5th", "every 1st of the month", "every week on Friday", "every hour on weekdays". */
function readLateDays(tokens: Tokens, index: number, rule: Rule): { value: Rule; next: number } {
  const at = skip(tokens, index, ['on', ','])
  if (at === index) return { value: rule, next: index }
  const days = rule.day === undefined ? readDays(tokens, at) : readMonthDay(tokens, skip(tokens, at, ['the']))
  return days ? { value: { ...rule, ...days.value }, next: days.next } : { value: rule, next: index }
}

function readMonthDay(tokens: Tokens, index: number): Read<Rule> {
  const day = Number(textAt(tokens, index))
  if (!Number.isInteger(day) || day < 1 || day > 31 || !ORDINAL_ENDINGS.includes(textAt(tokens, index + 1)))
    return undefined
  const next = skip(tokens, index + 2, ['day', 'of', 'the', 'each', 'every', 'month'])
  return { value: { day: String(day) }, next }
}

/** "between 9 and 17", "from 8 to 20" for rhythms within a day; an `often` one ends before its last hour begins. */
function readHours(tokens: Tokens, index: number, often: boolean): Read<Rule> {
  if (!isAt(tokens, index, 'between') && !isAt(tokens, index, 'from')) return undefined
  const from = readClock(tokens, index + 1)
  if (!from) return undefined
  const at = skip(tokens, from.next, ['and', 'to', 'until', 'till'])
  const to = at > from.next ? readClock(tokens, at) : undefined
  if (!to || from.value.hour >= to.value.hour) return undefined
  const last = to.value.hour - (often ? 1 : 0)
  return { value: { window: `${from.value.hour}-${last}` }, next: to.next }
}

interface Times {
  clocks: ClockTime[]
  period?: Period
}

/** "at 8", "at 8 and 20", "at 8:00, 12:00 and 18:00", "at 7 in the evening", "in the morning". */
function readTimes(tokens: Tokens, index: number): Read<Times> {
  const clocks: ClockTime[] = []
  let next = index
  for (;;) {
    const at = skip(tokens, next, clocks.length > 0 ? [...AT, 'and', ','] : AT)
    const clock = readClock(tokens, at)
    if (!clock || (at === next && !clock.value.sure)) break
    clocks.push(clock.value)
    next = clock.next
  }
  const period = readPeriod(tokens, next, clocks.length > 0)
  if (clocks.length === 0 && !period) return undefined
  return { value: { clocks, ...(period ? { period: period.value } : {}) }, next: period?.next ?? next }
}

function toRhythm(rule: Rule, said: Times): Rhythm {
  if (rule.why !== undefined) return { kind: 'refused', why: rule.why }
  const days = `${rule.day ?? '*'} * ${rule.weekdays ?? '*'}`
  if (rule.minutes !== undefined) {
    const step = rule.hours === undefined ? '' : `/${rule.hours}`
    return { kind: 'cron', cron: `${rule.minutes} ${rule.window ?? '*'}${step} ${days}` }
  }
  const period = said.period ?? rule.period
  const times = (said.clocks.length > 0 ? said.clocks : [undefined]).map(clock => toTime(clock, period))
  const minutes = new Set(times.map(time => time.minute))
  if (minutes.size > 1)
    return { kind: 'refused', why: 'these times differ in their minutes; ask for one reminder each' }
  const hours = [...new Set(times.map(time => time.hour))].sort((a, b) => a - b)
  return { kind: 'cron', cron: `${[...minutes][0]} ${hours.join(',')} ${days}` }
}
