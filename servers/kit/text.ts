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
