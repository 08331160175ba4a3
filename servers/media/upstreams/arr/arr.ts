import { z } from 'zod'
import type { Instance } from '../../../kit/instances.ts'
import type { Upstream } from '../../../kit/upstream/upstream.ts'
import { radarrSpec, sonarrSpec } from '../../config.ts'
import { matchTitle, type Wanted } from '../../titles.ts'
import type { Chosen } from './choose.ts'
import { toEpisodeNumber, toTitle } from './queue.ts'
import {
  type Episode,
  episode,
  type HistoryEntry,
  healthItem,
  historyEntry,
  indexer,
  paged,
  type QueueItem,
  queueItem,
  type Title,
  title,
} from './shapes.ts'

/*
 * Requests to Radarr and Sonarr, whose APIs are alike. Every function rejects with UpstreamFailure, or with
 * the signal's reason.
 */

const API = '/api/v3'
const QUEUE_PAGE = 200
/** Milliseconds; a lookup, and adding its result, ask services on the web. */
const WEB_LIMIT = 20_000
/** Bytes of a whole library, about 5 KiB for each title. It is read only to look for a title in it. */
export const LIBRARY_BYTES = 64 * 1024 * 1024

/** A Radarr or a Sonarr, with the settings that choose the defaults of an addition. */
export interface Arr extends Instance<typeof radarrSpec.settings> {
  readonly kind: 'radarr' | 'sonarr'
  readonly upstream: Upstream
}

/** The two programs' words for the same things. `database` issues the ids by which titles are looked up. */
export const KINDS = {
  radarr: { spec: radarrSpec, type: 'movie', what: 'film', path: '/movie', id: 'tmdbId', database: 'tmdb' },
  sonarr: { spec: sonarrSpec, type: 'show', what: 'series', path: '/series', id: 'tvdbId', database: 'tvdb' },
} as const

export const KIND_NAMES = ['radarr', 'sonarr'] as const

/** Returns the id by which the title is looked up: TMDB's of a film, TVDB's of a series. */
export function toDatabaseId({ kind }: Arr, one: Title): number {
  return one[KINDS[kind].id] ?? 0
}

/**
 * Reads the queue's first 200 entries with their films or episodes, including entries that the program cannot
 * identify.
 */
export async function readQueue(
  { kind, upstream }: Arr,
  signal?: AbortSignal,
): Promise<{ items: QueueItem[]; total: number }> {
  const include =
    kind === 'radarr'
      ? { includeMovie: true, includeUnknownMovieItems: true }
      : { includeSeries: true, includeEpisode: true, includeUnknownSeriesItems: true }
  const query = { page: 1, pageSize: QUEUE_PAGE, ...include }
  const found = await upstream.get(`${API}/queue`, { schema: paged(queueItem), query, signal })
  return { items: found.records, total: found.totalRecords }
}

/** Reads the program's own errors and warnings. */
export async function readComplaints({ upstream }: Arr, signal?: AbortSignal): Promise<string[]> {
  const items = await upstream.get(`${API}/health`, { schema: z.array(healthItem), signal })
  return items
    .filter(({ type }) => type === 'error' || type === 'warning')
    .map(({ message, source }) => message ?? source ?? '')
}

/** Returns the number of indexers that automatic searches use. */
export async function countIndexers({ upstream }: Arr, signal?: AbortSignal): Promise<number> {
  const all = await upstream.get(`${API}/indexer`, { schema: z.array(indexer), signal })
  return all.filter(one => one.enableAutomaticSearch).length
}

/** Searches the web as the program does; `term` may be "tmdb:603". Managed titles have an id. */
export function lookUp({ kind, upstream }: Arr, term: string, signal?: AbortSignal): Promise<Title[]> {
  const path = `${API}${KINDS[kind].path}/lookup`
  return upstream.get(path, { schema: z.array(title), query: { term }, signal, limit: WEB_LIMIT })
}

/** Returns the managed title with TMDB's or TVDB's id, or undefined. */
export async function findManaged(arr: Arr, id: number, signal?: AbortSignal): Promise<Title | undefined> {
  const { path, id: key } = KINDS[arr.kind]
  const query = { [key]: id }
  const found = await arr.upstream.get(`${API}${path}`, { schema: z.array(title), query, signal })
  return found.find(one => one[key] === id)
}

/** Finds the managed titles of this name: those with exactly it, else those that contain the words. */
export async function findNamed(arr: Arr, wanted: Wanted, signal?: AbortSignal): Promise<Title[]> {
  const path = `${API}${KINDS[arr.kind].path}`
  const all = await arr.upstream.get(path, { schema: z.array(title), signal })
  const named = all
    .filter(one => wanted.year === undefined || one.year === wanted.year)
    .map(one => ({ one, match: matchTitle(wanted.title, one.title) }))
  const exact = named.filter(({ match }) => match === 'exact')
  return (exact.length > 0 ? exact : named.filter(({ match }) => match === 'part')).map(({ one }) => one)
}

/**
 * Adds a title that a lookup found, by sending the whole object back as the program's own page does.
 * `seasons` are then the only monitored ones: without `addOptions.monitor` Sonarr uses the seasons' flags.
 */
export function addTitle(
  { kind, upstream }: Arr,
  found: Title,
  { profile, rootFolder }: Pick<Chosen, 'profile' | 'rootFolder'>,
  { seasons, search }: { seasons?: readonly number[] | undefined; search: boolean },
  signal?: AbortSignal,
): Promise<Title> {
  const { id: _, ...rest } = found
  const own =
    kind === 'radarr'
      ? {
          minimumAvailability: 'released',
          addOptions: { monitor: 'movieOnly', searchForMovie: search },
        }
      : {
          seasons: (found.seasons ?? []).map(one => ({
            ...one,
            monitored: seasons === undefined ? one.seasonNumber > 0 : seasons.includes(one.seasonNumber),
          })),
          seasonFolder: true,
          addOptions: {
            ...(seasons === undefined ? { monitor: 'all' } : { ignoreEpisodesWithFiles: true }),
            searchForMissingEpisodes: search,
          },
        }
  const json = {
    ...rest,
    qualityProfileId: profile.id,
    rootFolderPath: rootFolder,
    monitored: true,
    ...own,
  }
  const path = `${API}${KINDS[kind].path}`
  return upstream.send('POST', path, { schema: title, body: { json }, signal, limit: WEB_LIMIT })
}

export function readEpisodes({ upstream }: Arr, seriesId: number, signal?: AbortSignal): Promise<Episode[]> {
  return upstream.get(`${API}/episode`, { schema: z.array(episode), query: { seriesId }, signal })
}

/** A film or an episode to search for, with its title in words. */
export interface Searchable {
  id: number
  title: string
}

/** Reads what is monitored, out and without a file, latest first. */
export async function readMissing(
  { kind, upstream }: Arr,
  limit: number,
  signal?: AbortSignal,
): Promise<{ items: Searchable[]; total: number }> {
  const path = `${API}/wanted/missing`
  const query = { page: 1, pageSize: limit, sortDirection: 'descending', monitored: true }
  if (kind === 'radarr') {
    const films = { ...query, sortKey: 'movieMetadata.digitalRelease' }
    const found = await upstream.get(path, { schema: paged(title), query: films, signal })
    const items = found.records.map(one => ({ id: one.id ?? 0, title: toTitle(one.title, one.year) }))
    return { items, total: found.totalRecords }
  }
  const episodes = { ...query, sortKey: 'episodes.airDateUtc', includeSeries: true }
  const found = await upstream.get(path, { schema: paged(episode), query: episodes, signal })
  return { items: found.records.map(toSearchable), total: found.totalRecords }
}

export function toSearchable(one: Episode): Searchable {
  const number = toEpisodeNumber(one.seasonNumber, one.episodeNumber)
  return { id: one.id, title: `${one.series?.title ?? 'a series without a name'} ${number}` }
}

/** Makes the program search for films or episodes; resolves when the search is queued. */
export async function startSearch(
  { kind, upstream }: Arr,
  ids: readonly number[],
  signal?: AbortSignal,
): Promise<void> {
  if (ids.length === 0) return
  const json =
    kind === 'radarr' ? { name: 'MoviesSearch', movieIds: ids } : { name: 'EpisodeSearch', episodeIds: ids }
  const schema = z.object({ id: z.int() })
  await upstream.send('POST', `${API}/command`, { schema, body: { json }, signal })
}

/** Times in ISO 8601. */
export interface Span {
  start: string
  end: string
  unmonitored: boolean
}

/** Reads films with a release in the span. */
export function readMovieCalendar({ upstream }: Arr, query: Span, signal?: AbortSignal): Promise<Title[]> {
  return upstream.get(`${API}/calendar`, { schema: z.array(title), query: { ...query }, signal })
}

/** Reads episodes aired in the span. */
export function readEpisodeCalendar({ upstream }: Arr, span: Span, signal?: AbortSignal): Promise<Episode[]> {
  const query = { ...span, includeSeries: true }
  return upstream.get(`${API}/calendar`, { schema: z.array(episode), query, signal })
}

/** Reads the events of a film or series, latest first. */
export function readHistory(
  { kind, upstream }: Arr,
  id: number,
  signal?: AbortSignal,
): Promise<HistoryEntry[]> {
  const schema = z.array(historyEntry)
  return kind === 'radarr'
    ? upstream.get(`${API}/history/movie`, { schema, query: { movieId: id }, signal })
    : upstream.get(`${API}/history/series`, { schema, query: { seriesId: id }, signal })
}
