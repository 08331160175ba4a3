import { fromIso } from '../../core/clock.ts'
import { type ClockTime, type Period, readClock, readPeriod, toTime } from './clock-times.ts'
import { isAt, type Read, skip, type Tokens, textAt } from './time-tokens.ts'
import { addDays, addMonths, fromWall, toWall, type Wall, weekdayOf } from './zone.ts'

/** A day as it was said. */
type Day =
  | { kind: 'later'; days: number; months: number }
  | { kind: 'weekday'; weekday: number; next: boolean }
  | { kind: 'date'; day: number; month?: number; year?: number }
  | { kind: 'instant'; text: string }

/** A point in time as it was said; at least one of its parts is there. */
export interface Moment {
  day?: Day
  clock?: ClockTime
  period?: Period
}

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
)
const BEFORE_CLOCK = ['at', 'by', 'around', '@', 'about']
const CONNECTORS = [...BEFORE_CLOCK, 'on', 'the', 'for', 'from', ',']
/** What may follow a bare hour: "at 9 to check …", "at 9 how is …"; "at 9 servers" is no time. */
const AFTER_HOUR =
  /^(?:|to|that|about|on|in|and|or|for|every|each|today|tomorrow|tonight|next|this|please|[,;:]|sharp|then|how|what|is|are|remind|tell|show|give|check|look|report|run|start|stop|restart)$/

/** `bare`: the text is the answer to "when?", so that a mere "9" is a time. */
export function readMoment(tokens: Tokens, start: number, bare: boolean): Read<Moment> {
  let moment: Moment = {}
  let next = start
  for (;;) {
    const piece = readPiece(tokens, next, moment, bare)
    if (!piece) break
    moment = { ...moment, ...piece.value }
    next = piece.next
  }
  return next > start ? { value: moment, next } : undefined
}

function readPiece(tokens: Tokens, index: number, known: Moment, bare: boolean): Read<Moment> {
  const at = skip(tokens, index, CONNECTORS)
  const connector = textAt(tokens, at - 1)
  const led = at > index
  const day = known.day ? undefined : readDay(tokens, at, led ? connector : '')
  if (day) return day
  const clock = known.clock ? undefined : readClock(tokens, at)
  if (clock) {
    const dated = known.day !== undefined || known.period !== undefined
    const ends =
      AFTER_HOUR.test(textAt(tokens, clock.next)) || readPeriod(tokens, clock.next, true) !== undefined
    const said = led && BEFORE_CLOCK.includes(connector)
    if (clock.value.sure || (dated && said) || ((dated || said || bare) && ends))
      return { value: { clock: clock.value }, next: clock.next }
  }
  const period = known.period ? undefined : readPeriod(tokens, index, known.clock !== undefined)
  return period && { value: { period: period.value }, next: period.next }
}

function readDay(tokens: Tokens, at: number, connector: string): Read<Moment> {
  const word = textAt(tokens, at)
  if (word === 'today') return later(0, 0, at + 1)
  if (word === 'tonight') {
    return { value: { day: { kind: 'later', days: 0, months: 0 }, period: 'evening' }, next: at + 1 }
  }
  if (/^tom+or+ow$|^tmrw$/.test(word)) return later(1, 0, at + 1)
  if (isAt(tokens, at, 'day', 'after', 'tomorrow')) return later(2, 0, at + 3)
  if (isAt(tokens, at, 'next', 'week')) return later(7, 0, at + 2)
  if (isAt(tokens, at, 'next', 'month')) return later(0, 1, at + 2)
  return readWeekday(tokens, at, connector) ?? readDate(tokens, at, connector)
}

function later(days: number, months: number, next: number): Read<Moment> {
  return { value: { day: { kind: 'later', days, months } }, next }
}

function readWeekday(tokens: Tokens, at: number, connector: string): Read<Moment> {
  const next = isAt(tokens, at, 'next')
  const named = next || isAt(tokens, at, 'this') || isAt(tokens, at, 'coming')
  const weekday = toWeekday(textAt(tokens, named ? at + 1 : at), named || connector === 'on')
  if (weekday === undefined) return undefined
  return { value: { day: { kind: 'weekday', weekday, next } }, next: at + (named ? 2 : 1) }
}

/** 0 (Sunday) to 6; `short` allows "mon" and "tues", which are other words elsewhere. */
export function toWeekday(word: string, short: boolean): number | undefined {
  const index = WEEKDAYS.findIndex(
    name => name === word || (short && word.length >= 3 && name.startsWith(word)),
  )
  return index < 0 ? undefined : index
}

function toMonth(word: string): number | undefined {
  const index = word.length < 3 ? -1 : MONTHS.findIndex(name => name.startsWith(word))
  return index < 0 ? undefined : index + 1
}

function readDate(tokens: Tokens, at: number, connector: string): Read<Moment> {
  const word = textAt(tokens, at)
  const [, year, month, day, time] = /^(\d{4})-(\d{2})-(\d{2})(t.*)?$/.exec(word) ?? []
  if (time) return { value: { day: { kind: 'instant', text: word.toUpperCase() } }, next: at + 1 }
  if (year) return date(Number(day), at + 1, Number(month), Number(year))
  const [, dotDay, dotMonth] = (connector === 'on' && /^(\d{1,2})\.(\d{1,2})$/.exec(word)) || []
  if (dotDay) return date(Number(dotDay), at + 1, Number(dotMonth))
  const first = toMonth(word)
  if (first !== undefined && /^\d{1,2}$/.test(textAt(tokens, at + 1))) {
    return withYear(tokens, Number(textAt(tokens, at + 1)), skip(tokens, at + 2, ORDINAL_ENDINGS), first)
  }
  if (!/^\d{1,2}$/.test(word)) return undefined
  const ordinal = ORDINAL_ENDINGS.includes(textAt(tokens, at + 1))
  const after = skip(tokens, at + 1, [...ORDINAL_ENDINGS, 'of'])
  const second = toMonth(textAt(tokens, after))
  if (second !== undefined) return withYear(tokens, Number(word), after + 1, second)
  return ordinal ? date(Number(word), at + 2) : undefined
}

export const ORDINAL_ENDINGS = ['st', 'nd', 'rd', 'th']

function withYear(tokens: Tokens, day: number, next: number, month: number): Read<Moment> {
  const year = /^20\d\d$/.test(textAt(tokens, next)) ? Number(textAt(tokens, next)) : undefined
  return date(day, year === undefined ? next : next + 1, month, year)
}

function date(day: number, next: number, month?: number, year?: number): Read<Moment> {
  const said: Day = {
    kind: 'date',
    day,
    ...(month === undefined ? {} : { month }),
    ...(year === undefined ? {} : { year }),
  }
  return { value: { day: said }, next }
}

/** Unix milliseconds of a moment, the next one where several can be meant; undefined where there is none ahead. */
export function toInstant(moment: Moment, now: number, timezone: string): number | undefined {
  const today = { ...toWall(now, timezone), ...toTime(moment.clock, moment.period) }
  const ahead = (walls: Wall[]) =>
    walls.map(wall => fromWall(wall, timezone)).find(at => at !== undefined && at > now)
  const day = moment.day
  if (!day) return ahead([today, addDays(today, 1)])
  switch (day.kind) {
    case 'later':
      return ahead([addMonths(addDays(today, day.days), day.months)])
    case 'weekday': {
      const days = (day.weekday - weekdayOf(today) + 7) % 7
      return ahead([...(day.next && days === 0 ? [] : [addDays(today, days)]), addDays(today, days + 7)])
    }
    case 'date':
      return ahead(toDates(day, today))
    case 'instant':
      return ahead([]) ?? fromInstant(day.text, now, timezone)
    default:
      return day satisfies never
  }
}

function toDates(day: Day & { kind: 'date' }, today: Wall): Wall[] {
  const months = [0, 1, 2].map(step => addMonths({ ...today, day: 1 }, step))
  if (day.month === undefined) return months.map(wall => ({ ...wall, day: day.day }))
  const years = day.year === undefined ? [today.year, today.year + 1] : [day.year]
  return years.map(year => ({ ...today, year, month: day.month ?? 1, day: day.day }))
}

function fromInstant(text: string, now: number, timezone: string): number | undefined {
  const zoned = /(?:Z|[+-]\d{2}:?\d{2})$/.test(text)
  const utc = fromIso(zoned ? text : `${text}Z`)
  const at = zoned || utc === undefined ? utc : fromWall(toWall(utc, 'UTC'), timezone)
  return at !== undefined && at > now ? at : undefined
}
