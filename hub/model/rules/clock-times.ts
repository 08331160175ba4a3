import { isAt, type Read, skip, type Tokens, textAt } from './time-tokens.ts'
import { toNumber } from './values.ts'

/** A time of day as it was said. */
export interface ClockTime {
  hour: number
  minute: number
  /** Nothing else can be meant: "18:30", "6 pm", "noon"; not a mere "6". */
  sure: boolean
  /** Said with am or pm. */
  halved: boolean
}

export type Period = 'morning' | 'afternoon' | 'evening' | 'night'

const PERIODS: Record<Period, number> = { morning: 8, afternoon: 14, evening: 19, night: 21 }

/** "18:30", "6pm", "6:30 a.m.", "noon", "half past nine", "quarter to 8", "9 o'clock", "9". */
export function readClock(tokens: Tokens, index: number): Read<ClockTime> {
  const word = textAt(tokens, index)
  if (word === 'noon' || word === 'midday') return sure(12, 0, index + 1)
  if (word === 'midnight') return sure(0, 0, index + 1)
  return readPast(tokens, index) ?? readDigits(tokens, index)
}

function sure(hour: number, minute: number, next: number): Read<ClockTime> {
  return { value: { hour, minute, sure: true, halved: false }, next }
}

function readPast(tokens: Tokens, index: number): Read<ClockTime> {
  const start = skip(tokens, index, ['a'])
  const minutes = isAt(tokens, start, 'half', 'past') ? 30 : isAt(tokens, start, 'quarter', 'past') ? 15 : -15
  if (minutes === -15 && !isAt(tokens, start, 'quarter', 'to')) return undefined
  const base = readDigits(tokens, start + 2)
  if (base?.value.minute !== 0) return undefined
  const total = (base.value.hour * 60 + minutes + 1440) % 1440
  return {
    value: { ...base.value, hour: Math.floor(total / 60), minute: total % 60, sure: true },
    next: base.next,
  }
}

function readDigits(tokens: Tokens, index: number): Read<ClockTime> {
  const word = textAt(tokens, index)
  const [, hours = '', minutes] = /^(\d{1,2})(?:[:.](\d{2}))?$/.exec(word) ?? []
  const hour = hours === '' ? toNumber(word) : Number(hours)
  const minute = Number(minutes ?? 0)
  if (hour === undefined || !Number.isInteger(hour) || hour < 0 || hour > 23 || minute > 59) return undefined
  const half = readHalf(tokens, index + 1)
  if (half && (hour > 12 || hour === 0))
    return { value: { hour, minute, sure: true, halved: true }, next: half.next }
  if (half)
    return { value: { hour: (hour % 12) + half.value, minute, sure: true, halved: true }, next: half.next }
  const named = /^o['’]?clock$/.test(textAt(tokens, index + 1))
  return {
    value: { hour, minute, sure: named || word.includes(':'), halved: false },
    next: index + (named ? 2 : 1),
  }
}

/** 0 for am, 12 for pm. */
function readHalf(tokens: Tokens, index: number): Read<number> {
  const word = textAt(tokens, index)
  if (word === 'am' || word === 'pm') return { value: word === 'pm' ? 12 : 0, next: index + 1 }
  if ((word === 'a' || word === 'p') && isAt(tokens, index + 1, 'm')) {
    return { value: word === 'p' ? 12 : 0, next: index + 2 }
  }
  return undefined
}

/** "morning", "in the evening", "this afternoon", "at night"; where it has to be `led`, never the bare word. */
export function readPeriod(tokens: Tokens, index: number, led = false): Read<Period> {
  const at = skip(tokens, index, ['in', 'the', 'this', 'at', 'early', 'late'])
  if (led && at === index) return undefined
  const word = textAt(tokens, at).replace(/s$/, '')
  return Object.hasOwn(PERIODS, word) ? { value: word as Period, next: at + 1 } : undefined
}

/** The time that is meant: "9" in the evening is 21:00; a period alone is its usual hour; nothing is 9:00. */
export function toTime(
  clock: ClockTime | undefined,
  period: Period | undefined,
): { hour: number; minute: number } {
  if (!clock) return { hour: period ? PERIODS[period] : 9, minute: 0 }
  const { hour, minute, halved } = clock
  if (halved || !period) return { hour, minute }
  if (period === 'morning') return { hour: hour === 12 ? 0 : hour, minute }
  const late = hour < 12 && (period !== 'night' || hour >= 6)
  return { hour: late ? hour + 12 : period === 'night' && hour === 12 ? 0 : hour, minute }
}
