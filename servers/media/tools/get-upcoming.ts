import { z } from 'zod'
import { pickInstance } from '../../kit/instances.ts'
import { page, pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import { quote, toCountText, toTimeText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { radarrSpec, sonarrSpec } from '../config.ts'
import { addDays, toDay, toDayText, toIso, toMoment, toStartOfDay } from '../moments.ts'
import { readMovieCalendar } from '../upstreams/arr/movies.ts'
import { toEpisodeNumber, toTitle } from '../upstreams/arr/queue.ts'
import type { Episode, Movie } from '../upstreams/arr/shapes.ts'
import { readEpisodeCalendar } from '../upstreams/arr/shows.ts'
import type { Media } from '../upstreams/upstreams.ts'
import {
  type Asked,
  gather,
  instanceField,
  READ,
  titleOutput,
  toLines,
  toNoneConfigured,
  toUnknownLines,
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
  type: z.enum(['movie', 'show']).optional(),
  unmonitored: z.boolean().default(false).describe('also what is not monitored'),
  ...pageFields(30, 200),
  instance: instanceField.describe('default: all'),
})

/** `get_upcoming`: releases of the next days. */
export function getUpcoming(media: Media): Tool {
  const { clock } = media
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
      const timezone = media.timezone()
      const today = toDay(clock.now(), timezone)
      const span = { timezone, first: today, last: addDays(today, args.days), unmonitored: args.unmonitored }
      const asked = toAsked(media, args, span, signal)
      const { found, unknown } = await gather(asked, signal)
      const all = found
        .flat()
        .map(one => ({ ...one, on: toDay(one.at, timezone) }))
        .filter(({ on }) => on >= span.first && on <= span.last)
        .map(({ on: _, ...one }) => ({ ...one, day: toDayText(one.at, timezone) }))
        .sort((a, b) => a.at - b.at)
      const part = page(all, args)
      const data = { timezone, days: args.days, ...part, unknown }
      const head =
        all.length > 0
          ? `${toCountText(all.length, 'release')} in the next ${toCountText(args.days, 'day')}, days and times in ${timezone}:`
          : `Nothing comes out in the next ${toCountText(args.days, 'day')}.`
      const text = toLines(
        head,
        toDayLines(part.items, timezone),
        toMoreText(part, 'release'),
        toUnknownLines(unknown),
      )
      return { data, text, untrusted: all.length + unknown.length > 0 }
    },
  })
}

type Found = Omit<Release, 'day'>

/** Whole days of the time zone, such as "2026-11-22"; the span includes both. */
interface Span {
  timezone: string
  first: string
  last: string
  unmonitored: boolean
}

function toAsked(
  media: Media,
  { type, instance }: z.output<typeof input>,
  span: Span,
  signal: AbortSignal,
): Asked<Found[]>[] {
  const { radarrs, sonarrs } = media
  if (radarrs.length + sonarrs.length === 0) {
    throw toNoneConfigured(['Radarr', 'Sonarr'], ['RADARR_URL', 'SONARR_URL'], 'there is no calendar')
  }
  const { timezone, first, last, unmonitored } = span
  // Radarr stores a date as midnight in UTC, independent of its own time zone.
  const days = { start: `${first}T00:00:00Z`, end: `${last}T23:59:59Z`, unmonitored }
  const [start, end] = [first, addDays(last, 1)].map(day => toIso(toStartOfDay(day, timezone)))
  const times = { start, end, unmonitored }
  const movies = radarrs.map(({ name, upstream }) => ({
    name,
    upstream: upstream.title,
    ask: async () =>
      (await readMovieCalendar(upstream, days, signal)).flatMap(one => fromMovie(name, one, span)),
  }))
  const shows = sonarrs.map(({ name, upstream }) => ({
    name,
    upstream: upstream.title,
    ask: async () =>
      (await readEpisodeCalendar(upstream, times, signal)).flatMap(one => fromEpisode(name, one)),
  }))
  const of = [...(type === 'show' ? [] : movies), ...(type === 'movie' ? [] : shows)]
  if (instance === undefined && of.length > 0) return of
  const spec = type === 'show' || (type === undefined && radarrs.length === 0) ? sonarrSpec : radarrSpec
  return [pickInstance(of, instance, spec)]
}

/** Returns a film's releases. Its dates are whole days: Radarr's time of day has no meaning. */
function fromMovie(instance: string, movie: Movie, { first, last, timezone }: Span): Found[] {
  const dates = [
    ['in cinemas', movie.inCinemas],
    ['digital release', movie.digitalRelease],
    ['physical release', movie.physicalRelease],
  ] as const
  return dates.flatMap(([what, text]) => {
    const day = toMoment(text) === undefined ? '' : (text ?? '').slice(0, 10)
    if (day < first || day > last) return []
    const at = toStartOfDay(day, timezone)
    const title = toTitle(movie.title, movie.year)
    const about = { hasFile: movie.hasFile ?? false, monitored: movie.monitored ?? false, instance }
    return [{ title, type: 'movie' as const, at, what, ...about }]
  })
}

function fromEpisode(instance: string, episode: Episode): Found[] {
  const at = toMoment(episode.airDateUtc)
  if (at === undefined) return []
  const number = toEpisodeNumber(episode.seasonNumber, episode.episodeNumber)
  const title =
    `${episode.series?.title ?? 'a series without a name'} ${number} ${episode.title ?? ''}`.trim()
  const about = { hasFile: episode.hasFile ?? false, monitored: episode.monitored ?? false, instance }
  return [{ title, type: 'episode', at, what: 'airs', ...about }]
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
