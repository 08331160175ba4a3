import { stripVTControlCharacters } from 'node:util'

const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/**
 * Text of others (a process's name, a mount's path) made safe to show: control and invisible formatting
 * characters, line ends included, become one space, broken Unicode is mended, and what is longer than `max`
 * characters is cut with an ellipsis.
 */
export function cleanText(text: string, max = 200): string {
  const clean = text.toWellFormed().replace(INVISIBLE, ' ').trim()
  return clean.length <= max ? clean : `${clean.slice(0, max - 1).toWellFormed()}…`
}

/**
 * Log lines of others made safe to show: terminal codes and control characters are gone, empty lines at the ends too,
 * lines longer than `width` are cut, and of more than `lines` (200) the last are kept, after a line that says how many
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

/** Text of others inside a sentence: cleaned, between quotation marks that it cannot leave. */
export function quote(text: string, max = 200): string {
  return `"${cleanText(text, max).replaceAll('"', "'")}"`
}

/** Lines of others inside a readable text: between fences that they cannot leave. Clean them first. */
export function fence(lines: string): string {
  const longest = Math.max(2, ...[...lines.matchAll(/`+/g)].map(run => run[0].length))
  const marks = '`'.repeat(longest + 1)
  return `${marks}\n${lines}\n${marks}`
}

/** "1 film", "48 films", "2 series": `many` where an s does not do. */
export function toCountText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Bytes a second: "2.0 MiB/s", "0 B/s". */
export function toRateText(bytesPerSecond: number): string {
  return `${toByteText(bytesPerSecond)}/s`
}

/**
 * A moment in unix milliseconds as a person reads it: "22 Nov 2026 14:05 UTC". `timezone` is an IANA name such as
 * "Europe/Berlin"; an unknown one throws a RangeError.
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
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]))
  const get = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? ''
  return `${get('day')} ${get('month').slice(0, 3)} ${get('year')} ${get('hour')}:${get('minute')} ${get('timeZoneName')}`
}

/** How long ago, or until: "3 min ago", "in 2 h 10 min", "just now" within ten seconds. Both in unix milliseconds. */
export function toAgeText(at: number, now: number): string {
  const seconds = (now - at) / 1000
  if (Math.abs(seconds) < 10) return 'just now'
  return seconds > 0 ? `${toSpanText(seconds)} ago` : `in ${toSpanText(-seconds)}`
}

/** A number of bytes as a person reads it, in steps of 1024: "812 B", "3.1 GiB", "252 GiB". */
export function toByteText(bytes: number): string {
  let value = bytes
  let step = 0
  while (Math.abs(value) >= 1023.5 && step < UNITS.length - 1) {
    value /= 1024
    step++
  }
  return `${toShortNumber(value, step === 0)} ${UNITS[step]}`
}

/** "7.4 %" below ten, "41 %" above. */
export function toPercentText(percent: number): string {
  return `${toShortNumber(percent, false)} %`
}

/** A span of seconds as a person says it: "12 s", "5 min", "2 h 10 min", "3 d 4 h". */
export function toSpanText(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1) return `${Math.floor(seconds)} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 1) return `${minutes} min`
  const days = Math.floor(hours / 24)
  return days < 1 ? `${hours} h ${minutes % 60} min` : `${days} d ${hours % 24} h`
}

/** A number with at most one decimal, for JSON. */
export function toTenth(value: number): number {
  return Math.round(value * 10) / 10
}

function toShortNumber(value: number, whole: boolean): string {
  return whole || Math.abs(value) >= 99.95 ? String(Math.round(value)) : String(toTenth(value))
}
