import { toNumber } from './values.ts'
import { READ_CHARACTERS, toPlain } from './words.ts'
import { DAY, HOUR, MINUTE } from './zone.ts'

/** A word, number, date or comma of a text, plain and lower-case, with its place. */
export interface Token {
  text: string
  start: number
  end: number
}
export type Tokens = readonly Token[]

/** What was read from a place on, and the place after it; undefined where it is not there. */
export type Read<T> = { value: T; next: number } | undefined

/** A length of time. Months have no fixed length, so they are apart; parts of them are possible. */
export interface Span {
  milliseconds: number
  months: number
}

const TOKEN =
  /\d{4}-\d{2}-\d{2}(?:t\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:z|[+-]\d{2}:?\d{2})?)?|\d+(?:[:.,]\d+)?|\p{L}+(?:['’]\p{L}+)*|[,;:@]/giu

const UNITS: [RegExp, number][] = [
  [/^(?:s|secs?|seconds?)$/, 1000],
  [/^(?:m|mins?|minutes?)$/, MINUTE],
  [/^(?:h|hrs?|hours?)$/, HOUR],
  [/^(?:d|days?)$/, DAY],
  [/^(?:w|wks?|weeks?)$/, 7 * DAY],
]

export function toTokens(text: string): Token[] {
  return [...text.slice(0, READ_CHARACTERS).matchAll(TOKEN)].map(match => ({
    text: toPlain(match[0]),
    start: match.index,
    end: match.index + match[0].length,
  }))
}

export function textAt(tokens: Tokens, index: number): string {
  return tokens[index]?.text ?? ''
}

/** Whether these words stand here, in this order. */
export function isAt(tokens: Tokens, index: number, ...words: string[]): boolean {
  return words.every((word, offset) => textAt(tokens, index + offset) === word)
}

/** The place after all words here that are among `words`. */
export function skip(tokens: Tokens, index: number, words: readonly string[]): number {
  let next = index
  while (words.includes(textAt(tokens, next)) && next < tokens.length) next++
  return next
}

/** "5", "five", "forty five"; "a" and "an" are 1. */
export function readNumber(tokens: Tokens, index: number): Read<number> {
  const word = textAt(tokens, index)
  if (word === 'a' || word === 'an') return { value: 1, next: index + 1 }
  const value = toNumber(word)
  if (value === undefined) return undefined
  const ones = /^\d/.test(word) ? undefined : toNumber(textAt(tokens, index + 1))
  return value >= 20 && value % 10 === 0 && ones !== undefined && ones > 0 && ones < 10
    ? { value: value + ones, next: index + 2 }
    : { value, next: index + 1 }
}

/** Milliseconds of a unit's name, or months. */
export function toUnit(word: string): Span | undefined {
  if (/^(?:months?|years?)$/.test(word)) return { milliseconds: 0, months: word.startsWith('y') ? 12 : 1 }
  const milliseconds = UNITS.find(([name]) => name.test(word))?.[1]
  return milliseconds === undefined ? undefined : { milliseconds, months: 0 }
}

/**
 * "2 minutes", "an hour and a half", "2h 30m", "half an hour", "three quarters of an hour", "a couple of days"; where
 * `one` is left out, as after "every", a mere "hour" is one.
 */
export function readSpan(tokens: Tokens, index: number, one = false): Read<Span> {
  const first = readPart(tokens, index, one)
  if (!first) return undefined
  const more = readSpan(tokens, skip(tokens, first.next, ['and', ',']))
  if (!more) return first
  return {
    value: {
      milliseconds: first.value.milliseconds + more.value.milliseconds,
      months: first.value.months + more.value.months,
    },
    next: more.next,
  }
}

function readPart(tokens: Tokens, index: number, one: boolean): Read<Span> {
  const amount = readAmount(tokens, index) ?? (one ? { value: 1, next: index } : undefined)
  if (!amount) return undefined
  const unit = toUnit(textAt(tokens, amount.next))
  if (!unit) return undefined
  const part = readFraction(tokens, amount.next + 1)
  const times = amount.value + part.value
  return {
    value: { milliseconds: unit.milliseconds * times, months: unit.months * times },
    next: part.next,
  }
}

function readAmount(tokens: Tokens, index: number): Read<number> {
  for (const [words, value] of FRACTIONS) {
    if (!isAt(tokens, index, ...words)) continue
    return { value, next: skip(tokens, index + words.length, ['of', 'a', 'an']) }
  }
  const number = readNumber(tokens, index)
  const part = number && readFraction(tokens, number.next)
  return part && { value: number.value + part.value, next: part.next }
}

/** "and a half" behind a number or a unit; 0 where there is none. */
function readFraction(tokens: Tokens, index: number): { value: number; next: number } {
  if (isAt(tokens, index, 'and', 'a', 'half')) return { value: 0.5, next: index + 3 }
  if (isAt(tokens, index, 'and', 'a', 'quarter')) return { value: 0.25, next: index + 3 }
  if (isAt(tokens, index, 'and', 'three', 'quarters')) return { value: 0.75, next: index + 3 }
  return { value: 0, next: index }
}

const FRACTIONS: [string[], number][] = [
  [['half'], 0.5],
  [['three', 'quarters'], 0.75],
  [['3', 'quarters'], 0.75],
  [['a', 'quarter'], 0.25],
  [['quarter'], 0.25],
  [['a', 'couple'], 2],
  [['couple'], 2],
  [['a', 'few'], 3],
  [['few'], 3],
]
