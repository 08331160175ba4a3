import { z } from 'zod'
import { parseTime, toIsoTime } from '../../kit/clock.ts'
import { page, pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import { quote, toCountText, toTimeText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { addDays, toDay, toDayText, toStartOfDay } from '../moments.ts'
import { type Arr, readEpisodeCalendar, readMovieCalendar, toSearchable } from '../upstreams/arr/arr.ts'
import { toTitle } from '../upstreams/arr/queue.ts'
import type { Episode, Title } from '../upstreams/arr/shapes.ts'
import type { Media } from '../upstreams/upstreams.ts'
import {
  gather,
  instanceField,
  pickArrs,
  READ,
  titleOutput,
  toUnknownLines,
  typeField,
  unknownField,
} from './common.ts'

const release = z.object({
  title: titleOutput,
  type: z.enum(['movie', 'episode']),
  at: z.number().describe('unix milliseconds; of a film the start of the day'),
  what: z.enum(['airs', 'in cinemas', 'digital release', 'physical release']),
  day: z.string().describe('the day in the time zone'),
  hasFile: z.boolean(),
  monitored: z.boolean(),
  instance: z.string(),
})
type Release = z.input<typeof release>

const output = z.object({
  timezone: z.string(),
  days: z.int(),
  items: z.array(release),
  ...pageOutput,
  unknown: unknownField,
})

const input = z.strictObject({
  days: z.int().min(1).max(90).default(7).describe('besides today'),
  type: typeField,
  unmonitored: z.boolean().default(false).describe('also what is not monitored'),
  ...pageFields(30, 200),
  instance: instanceField.describe('default: all'),
})

/** `get_upcoming`: releases of the next days. */
export function getUpcoming({ arrs, clock, timezone: readTimezone }: Media): Tool {
  return defineTool({
    name: 'get_upcoming',
    title: 'Upcoming releases',
    description:
      'Upcoming episodes and film releases of the next days, by the calendars of Sonarr and Radarr. For ' +
      '"what is coming this week".',
    annotations: READ,
    input,
    output,
    async run(args, signal) {
      const timezone = readTimezone()
      const first = toDay(clock.now(), timezone)
      const { days, unmonitored } = args
      const span = { timezone, first, last: addDays(first, days), unmonitored }
      const picked = pickArrs(arrs, args, 'there is no calendar')
      const { found, unknown } = await gather(picked, signal, arr => readReleases(arr, span, signal))
      const all = found.flat().sort((a, b) => a.at - b.at)
      const part = page(all, args)
      const head =
        all.length > 0
          ? `${toCountText(all.length, 'release')} in the next ${toCountText(days, 'day')}, days and times in ${timezone}:`
          : `Nothing comes out in the next ${toCountText(days, 'day')}.`
      const lines = toDayLines(part.items, timezone)
      const text = [head, lines, toMoreText(part, 'release'), toUnknownLines(unknown)]
      return { data: { timezone, days, ...part, unknown }, text, untrusted: all.length + unknown.length > 0 }
    },
  })
}

/** Whole days of the time zone, such as "2026-11-22"; the span includes both. */
interface Days {
  timezone: string
  first: string
  last: string
  unmonitored: boolean
}

async function readReleases(arr: Arr, days: Days, signal: AbortSignal): Promise<Release[]> {
  const { first, last, timezone, unmonitored } = days
  if (arr.kind === 'radarr') {
    // Radarr stores a date as midnight in UTC, independent of its own time zone.
    const span = { start: `${first}T00:00:00Z`, end: `${last}T23:59:59Z`, unmonitored }
    return (await readMovieCalendar(arr, span, signal)).flatMap(one => fromMovie(arr.name, one, days))
  }
  const toTime = (day: string) => toIsoTime(toStartOfDay(day, timezone))
  const span = { start: toTime(first), end: toTime(addDays(last, 1)), unmonitored }
  return (await readEpisodeCalendar(arr, span, signal)).flatMap(one => fromEpisode(arr.name, one, days))
}

/** Returns a film's releases. Its dates are whole days: Radarr's time of day has no meaning. */
function fromMovie(instance: string, movie: Title, { first, last, timezone }: Days): Release[] {
  const dates = [
    ['in cinemas', movie.inCinemas],
    ['digital release', movie.digitalRelease],
    ['physical release', movie.physicalRelease],
  ] as const
  return dates.flatMap(([what, text]) => {
    const day = parseTime(text) === undefined ? '' : (text ?? '').slice(0, 10)
    if (day < first || day > last) return []
    const at = toStartOfDay(day, timezone)
    const title = toTitle(movie.title, movie.year)
    return [{ title, type: 'movie', at, what, ...toAbout(instance, movie, at, timezone) }]
  })
}

function fromEpisode(instance: string, episode: Episode, { first, last, timezone }: Days): Release[] {
  const at = parseTime(episode.airDateUtc)
  const day = at === undefined ? '' : toDay(at, timezone)
  if (at === undefined || day < first || day > last) return []
  const title = `${toSearchable(episode).title} ${episode.title ?? ''}`.trim()
  return [{ title, type: 'episode', at, what: 'airs', ...toAbout(instance, episode, at, timezone) }]
}

function toAbout(instance: string, { hasFile, monitored }: Title | Episode, at: number, timezone: string) {
  const day = toDayText(at, timezone)
  return { hasFile: hasFile ?? false, monitored: monitored ?? false, instance, day }
}

/** Returns a line for each day and then its releases; films have a day, episodes also a time. */
function toDayLines(items: readonly Release[], timezone: string): string[] {
  let day = ''
  return items.flatMap(one => {
    const time = one.type === 'episode' ? ` at ${toTimeText(one.at, timezone)}` : ''
    const file = one.hasFile ? ', there already' : ''
    const watched = one.monitored ? '' : ', not monitored'
    const line = `- ${quote(one.title)}: ${one.what}${time}${file}${watched}`
    if (one.day === day) return [line]
    day = one.day
    return [`${day}:`, line]
  })
}
