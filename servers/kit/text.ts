import { stripVTControlCharacters } from 'node:util'

const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/**
 * Makes foreign text (a process's name, a mount's path) safe to show: control and invisible formatting
 * characters, line ends included, become one space, broken Unicode is mended, and a text longer than `max`
 * characters is cut with an ellipsis.
 */
export function cleanText(text: string, max = 200): string {
  const clean = text.toWellFormed().replace(INVISIBLE, ' ').trim()
  return clean.length <= max ? clean : `${clean.slice(0, max - 1).toWellFormed()}…`
}

/**
 * Makes foreign log lines safe to show: removes terminal codes, control characters and empty lines at both
 * ends, cuts lines longer than `width`, and keeps the last `lines` (200), after a line that says how many
 * were cut.
 */
export function cleanLines(text: string, limits: { lines?: number; width?: number } = {}): string {
  const { lines = 200, width = 500 } = limits
  const all = stripVTControlCharacters(text).split(/\r\n|\n|\r/)
  const first = all.findIndex(line => line.trim() !== '')
  const last = all.findLastIndex(line => line.trim() !== '')
  const told = first < 0 ? [] : all.slice(first, last + 1)
  const kept = told.slice(-lines).map(line => {
    const indent = /^ */.exec(line)?.[0] ?? ''
    return `${indent}${cleanText(line, width)}`.trimEnd()
  })
  const cut = told.length - kept.length
  return cut > 0 ? [`(${toCountText(cut, 'earlier line')} cut)`, ...kept].join('\n') : kept.join('\n')
}

/** Quotes foreign text inside a sentence: cleaned, between quotation marks that it cannot contain. */
export function quote(text: string, max = 200): string {
  return `"${cleanText(text, max).replaceAll('"', "'")}"`
}

/** Puts foreign lines between fences that they cannot contain. Clean them first. */
export function fence(lines: string): string {
  const longest = Math.max(2, ...[...lines.matchAll(/`+/g)].map(run => run[0].length))
  const marks = '`'.repeat(longest + 1)
  return `${marks}\n${lines}\n${marks}`
}

/** Returns "1 film", "48 films", "2 series"; `many` is the plural if it is not `one` with an s. */
export function toCountText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Returns bytes a second: "2.0 MiB/s", "0 B/s". */
export function toRateText(bytesPerSecond: number): string {
  return `${toByteText(bytesPerSecond)}/s`
}

/**
 * Returns unix milliseconds as a person reads them: "22 Nov 2026 14:05 UTC". `timezone` is an IANA name such
 * as "Europe/Berlin"; an unknown one throws a RangeError.
 */
export function toTimeText(at: number, timezone = 'UTC'): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  })
  return format.format(at).replace(',', '').replace('Sept', 'Sep')
}

/**
 * Returns the time since or until `at`: "3 min ago", "in 2 h 10 min", "just now" within ten seconds. Both in
 * unix milliseconds.
 */
export function toAgeText(at: number, now: number): string {
  const seconds = (now - at) / 1000
  if (Math.abs(seconds) < 10) return 'just now'
  return seconds > 0 ? `${toSpanText(seconds)} ago` : `in ${toSpanText(-seconds)}`
}

/** Returns a number of bytes as a person reads it, in steps of 1024: "812 B", "3.1 GiB", "252 GiB". */
export function toByteText(bytes: number): string {
  let value = bytes
  let step = 0
  while (Math.abs(value) >= 1023.5 && step < UNITS.length - 1) {
    value /= 1024
    step++
  }
  return `${toShortNumber(value, step === 0)} ${UNITS[step]}`
}

/** Returns a percentage with at most one decimal, and with none from 100 on: "7.4 %", "41 %". */
export function toPercentText(percent: number): string {
  return `${toShortNumber(percent, false)} %`
}

/** Returns a span of seconds as a person says it: "12 s", "5 min", "2 h 10 min", "3 d 4 h". */
export function toSpanText(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1) return `${Math.floor(seconds)} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 1) return `${minutes} min`
  const days = Math.floor(hours / 24)
  return days < 1 ? `${hours} h ${minutes % 60} min` : `${days} d ${hours % 24} h`
}

/** Rounds a number to at most one decimal, for JSON. */
export function toTenth(value: number): number {
  return Math.round(value * 10) / 10
}

function toShortNumber(value: number, whole: boolean): string {
  return whole || Math.abs(value) >= 99.95 ? String(Math.round(value)) : String(toTenth(value))
}
