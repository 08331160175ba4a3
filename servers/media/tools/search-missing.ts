import { z } from 'zod'
import { requireAccess } from '../../kit/access.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { pickInstance } from '../../kit/instances.ts'
import { quote, toCountText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { radarrSpec, sonarrSpec } from '../config.ts'
import { toMoment } from '../moments.ts'
import { readWanted } from '../titles.ts'
import { sendCommand } from '../upstreams/arr/arr.ts'
import { findManagedMovies, findManagedSeries } from '../upstreams/arr/managed.ts'
import { readMissingMovies } from '../upstreams/arr/movies.ts'
import { toEpisodeNumber, toTitle } from '../upstreams/arr/queue.ts'
import type { Episode } from '../upstreams/arr/shapes.ts'
import { readEpisodes, readMissingEpisodes } from '../upstreams/arr/shows.ts'
import type { Media, Radarr, Sonarr } from '../upstreams/upstreams.ts'
import {
  type Asked,
  CHANGE,
  gather,
  instanceField,
  titleField,
  titleOutput,
  toLines,
  toNoneConfigured,
  toUnknownLines,
  unknownField,
  yearField,
} from './common.ts'

const SHOWN = 20

const searched = z.object({
  instance: z.string(),
  program: z.string().describe('Radarr or Sonarr, as it is called here'),
  searching: z.array(titleOutput).describe('what is searched for now'),
  missing: z.int().describe('monitored, out and without a file, in all'),
  candidates: z
    .array(titleOutput)
    .optional()
    .describe(
      'several are called so and nothing was searched for: call again with one of these titles and its year',
    ),
  note: z.string().optional(),
})
type Searched = z.input<typeof searched>

const output = z.object({
  started: z.int().describe('searches begun'),
  results: z.array(searched),
  unknown: unknownField,
})

const input = z.strictObject({
  title: titleField.optional().describe('default: the newest of all'),
  year: yearField,
  type: z.enum(['movie', 'show']).optional(),
  limit: z.int().min(1).max(100).default(10).describe('of each Radarr and Sonarr'),
  instance: instanceField.describe('default: all'),
})
type Args = z.output<typeof input>

/** `search_missing`: makes Radarr and Sonarr search for monitored titles without files. */
export function searchMissing(media: Media): Tool {
  return defineTool({
    name: 'search_missing',
    title: 'Search for what is missing',
    description:
      'Has Radarr and Sonarr search for what is monitored but missing, one title or the newest, and ' +
      'downloads what is found; get_requests then shows it. Each search uses up what indexers allow a day. ' +
      'It adds nothing: request_movie and request_show do.',
    annotations: { ...CHANGE, openWorldHint: true },
    input,
    output,
    limit: 60_000,
    async run(args, signal) {
      const { found, unknown } = await gather(toAsked(media, args, signal), signal)
      const results = found.filter(one => one !== undefined)
      if (results.length === 0) throw toNotManaged(args, unknown.length > 0)
      const started = results.reduce((sum, one) => sum + one.searching.length, 0)
      const text = toLines(results.map(toText), toUnknownLines(unknown))
      const untrusted = started + unknown.length > 0 || results.some(one => one.candidates)
      return { data: { started, results, unknown }, text, untrusted }
    },
  })
}

function toAsked(media: Media, args: Args, signal: AbortSignal): Asked<Searched | undefined>[] {
  const { radarrs, sonarrs, clock } = media
  if (radarrs.length + sonarrs.length === 0) {
    throw toNoneConfigured(['Radarr', 'Sonarr'], ['RADARR_URL', 'SONARR_URL'], 'nothing can be searched for')
  }
  const movies = radarrs.map(radarr => ({
    name: radarr.name,
    upstream: radarr.upstream.title,
    check: () => requireAccess(radarr, 'change', 'Radarr'),
    ask: () => searchMovies(radarr, args, signal),
  }))
  const shows = sonarrs.map(sonarr => ({
    name: sonarr.name,
    upstream: sonarr.upstream.title,
    check: () => requireAccess(sonarr, 'change', 'Sonarr'),
    ask: () => searchEpisodes(sonarr, args, clock.now(), signal),
  }))
  const of = [...(args.type === 'show' ? [] : movies), ...(args.type === 'movie' ? [] : shows)]
  const spec =
    args.type === 'show' || (args.type === undefined && radarrs.length === 0) ? sonarrSpec : radarrSpec
  const asked = args.instance !== undefined || of.length === 0 ? [pickInstance(of, args.instance, spec)] : of
  for (const one of asked) one.check()
  return asked
}

/** Starts a search; undefined if the title is not one of Radarr's. */
async function searchMovies(
  { name, upstream }: Radarr,
  { title, year, limit }: Args,
  signal: AbortSignal,
): Promise<Searched | undefined> {
  if (title === undefined) {
    const { items, total } = await readMissingMovies(upstream, limit, signal)
    const ids = items.flatMap(one => (one.id ? [one.id] : []))
    if (ids.length > 0) await sendCommand(upstream, { name: 'MoviesSearch', movieIds: ids }, signal)
    return {
      instance: name,
      program: upstream.title,
      searching: items.map(one => toTitle(one.title, one.year)),
      missing: total,
    }
  }
  const managed = await findManagedMovies(upstream, readWanted(title, year), signal)
  if (managed.length === 0) return undefined
  if (managed.length > 1) return toAmbiguous(name, upstream.title, managed)
  const missing = managed.filter(one => !one.hasFile && one.id)
  const wanted = missing.slice(0, limit)
  if (wanted.length > 0) {
    await sendCommand(
      upstream,
      { name: 'MoviesSearch', movieIds: wanted.flatMap(one => one.id ?? []) },
      signal,
    )
  }
  const unmonitored = wanted.filter(one => !one.monitored).map(one => quote(toTitle(one.title, one.year)))
  return {
    instance: name,
    program: upstream.title,
    searching: wanted.map(one => toTitle(one.title, one.year)),
    missing: missing.length,
    ...(unmonitored.length > 0
      ? { note: `Not monitored, so it is searched for only this once: ${unmonitored.join(', ')}.` }
      : {}),
  }
}

/** Starts a search; undefined if the title is not one of Sonarr's. */
async function searchEpisodes(
  sonarr: Sonarr,
  { title, year, limit }: Args,
  now: number,
  signal: AbortSignal,
): Promise<Searched | undefined> {
  const { name, upstream } = sonarr
  if (title === undefined) {
    const { items, total } = await readMissingEpisodes(upstream, limit, signal)
    return startSearch(sonarr, items, total, signal)
  }
  const managed = await findManagedSeries(upstream, readWanted(title, year), signal)
  const [series] = managed
  if (!series?.id) return undefined
  if (managed.length > 1) return toAmbiguous(name, upstream.title, managed)
  const all = await readEpisodes(upstream, series.id, signal)
  const missing = all
    .filter(one => isMissing(one, now))
    .map(one => ({ ...one, series }))
    .sort((a, b) => (toMoment(b.airDateUtc) ?? 0) - (toMoment(a.airDateUtc) ?? 0))
  const started = await startSearch(sonarr, missing.slice(0, limit), missing.length, signal)
  if (series.monitored) return started
  const what = quote(toTitle(series.title, series.year))
  return { ...started, note: `${what} is not monitored, so Sonarr does not look for it by itself.` }
}

async function startSearch(
  { name, upstream }: Sonarr,
  episodes: readonly Episode[],
  missing: number,
  signal: AbortSignal,
): Promise<Searched> {
  const episodeIds = episodes.map(({ id }) => id)
  if (episodeIds.length > 0) await sendCommand(upstream, { name: 'EpisodeSearch', episodeIds }, signal)
  return { instance: name, program: upstream.title, searching: episodes.map(toEpisodeTitle), missing }
}

function toAmbiguous(
  instance: string,
  program: string,
  managed: readonly { title: string; year: number }[],
): Searched {
  const candidates = managed.map(one => toTitle(one.title, one.year)).slice(0, SHOWN)
  return { instance, program, searching: [], missing: 0, candidates }
}

/** Tells whether the episode is monitored, has aired and has no file. */
function isMissing(episode: Episode, now: number): boolean {
  const aired = toMoment(episode.airDateUtc)
  return episode.monitored === true && !episode.hasFile && aired !== undefined && aired <= now
}

function toEpisodeTitle(episode: Episode): string {
  const number = toEpisodeNumber(episode.seasonNumber, episode.episodeNumber)
  return `${episode.series?.title ?? 'a series without a name'} ${number}`
}

function toText({ program, searching, missing, candidates, note }: Searched): string {
  if (candidates) {
    const list = candidates.map(title => quote(title)).join(', ')
    return `Nothing was searched for in ${program}: it may be one of ${list}. Call it again with the full title and year.`
  }
  if (searching.length === 0)
    return toLines(`Nothing that is monitored and out is missing in ${program}.`, note)
  const shown = searching.slice(0, SHOWN).map(title => quote(title))
  const rest = searching.length - shown.length
  const left = missing - searching.length
  return toLines(
    `${program} searches for ${toCountText(searching.length, 'title')}: ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`,
    left > 0
      ? `${toCountText(left, 'more title')} ${left > 1 ? 'are' : 'is'} missing; a larger limit searches for more.`
      : undefined,
    note,
  )
}

function toNotManaged({ title = '', year }: Args, isPartial: boolean): ToolFailure {
  return new ToolFailure({
    what: `Nothing was searched for: ${quote(toTitle(title, year))} is in no Radarr and no Sonarr here.`,
    where: 'the libraries of Radarr and Sonarr',
    why: isPartial ? 'it is in none of those that answered' : 'nothing that they manage is called so',
    fix: 'Check the spelling with search_media, or ask for it with request_movie or request_show.',
  })
}
