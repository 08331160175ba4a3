const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The page's words are English; its clock has 12 or 24 hours, as the reader's language does. */
const language = globalThis.navigator?.language ?? 'en-GB'
const locale = language.startsWith('en') ? language : 'en-GB'
const hour12 = new Intl.DateTimeFormat(language, { hour: 'numeric' }).resolvedOptions().hour12 ?? false

const clockFormat = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hour12 })
const dayFormat = new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long' })
const shortDayFormat = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric' })
const dayYearFormat = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', year: 'numeric' })
const fullFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long', hour12 })

/** Returns "14:03". */
export function clockTime(at: number) {
  return clockFormat.format(at)
}

/** Returns "Tue 24". */
export function shortDay(at: number) {
  return shortDayFormat.format(at)
}

/** Returns the full date and time, for a tooltip. */
export function fullTime(at: number) {
  return fullFormat.format(at)
}

/** Returns the local day as a key: two times with the same key are on one day. */
export function dayKey(at: number) {
  const date = new Date(at)
  return `${date.getFullYear()}-${date.getMonth() + 1}-${date.getDate()}`
}

/** Returns "Today", "Yesterday" or a date, with its year if needed. */
export function dayName(at: number, now: number) {
  if (dayKey(at) === dayKey(now)) return 'Today'
  const yesterday = new Date(now)
  yesterday.setDate(yesterday.getDate() - 1)
  if (dayKey(at) === dayKey(yesterday.getTime())) return 'Yesterday'
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  return (sameYear ? dayFormat : dayYearFormat).format(at)
}

/** Returns "14:03", with the day where it is not today. */
export function dayAndTime(at: number, now: number) {
  if (dayKey(at) === dayKey(now)) return clockTime(at)
  const tomorrow = new Date(now)
  tomorrow.setDate(tomorrow.getDate() + 1)
  const day = dayKey(at) === dayKey(tomorrow.getTime()) ? 'tomorrow' : dayName(at, now)
  return `${day} ${clockTime(at)}`
}

/** Returns the words of milliseconds: "12 s", "5 min", "3 h 20 min", "2 d 4 h". */
export function duration(span: number) {
  if (span < MINUTE) return `${Math.max(0, Math.round(span / SECOND))} s`
  if (span < HOUR) return `${Math.floor(span / MINUTE)} min`
  if (span < DAY) return join(Math.floor(span / HOUR), 'h', Math.floor((span % HOUR) / MINUTE), 'min')
  return join(Math.floor(span / DAY), 'd', Math.floor((span % DAY) / HOUR), 'h')
}

function join(big: number, bigUnit: string, small: number, smallUnit: string) {
  return small === 0 ? `${big} ${bigUnit}` : `${big} ${bigUnit} ${small} ${smallUnit}`
}

/** Returns "in 5 minutes", "2 hours ago", "now". */
export function relative(at: number, now: number) {
  const span = Math.abs(at - now)
  const words = spanWords(span)
  if (words === null) return 'now'
  return at > now ? `in ${words}` : `${words} ago`
}

function spanWords(span: number) {
  if (span < 5 * SECOND) return null
  if (span < MINUTE) return count(Math.round(span / SECOND), 'second')
  if (span < HOUR) return count(Math.round(span / MINUTE), 'minute')
  if (span < DAY) return count(Math.round(span / HOUR), 'hour')
  return count(Math.round(span / DAY), 'day')
}

/** Returns "1 minute", "12,400 tokens". */
export function count(n: number, unit: string) {
  return `${n.toLocaleString('en')} ${unit}${n === 1 ? '' : 's'}`
}
