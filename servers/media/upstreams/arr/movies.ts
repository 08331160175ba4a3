import { z } from 'zod'
import type { Upstream } from '../../../kit/upstream/upstream.ts'
import type { Chosen } from './arr.ts'
import { API, WEB_LIMIT } from './arr.ts'
import { type HistoryEntry, historyEntry, type Movie, movie, paged } from './shapes.ts'

/* Requests to Radarr. Every function rejects with UpstreamFailure, or with the signal's reason. */

/** Searches the web as Radarr does; `term` may be "tmdb:603". Films that Radarr manages have an id. */
export function lookUpMovies(radarr: Upstream, term: string, signal?: AbortSignal): Promise<Movie[]> {
  return radarr.get(`${API}/movie/lookup`, {
    schema: z.array(movie),
    query: { term },
    signal,
    limit: WEB_LIMIT,
  })
}

/** Returns the film that Radarr manages, or undefined. */
export async function findMovie(
  radarr: Upstream,
  tmdbId: number,
  signal?: AbortSignal,
): Promise<Movie | undefined> {
  const found = await radarr.get(`${API}/movie`, { schema: z.array(movie), query: { tmdbId }, signal })
  return found.find(one => one.tmdbId === tmdbId)
}

/** Adds a film that a lookup found, by sending the whole object back as Radarr's own page does. */
export function addMovie(
  radarr: Upstream,
  found: Movie,
  chosen: Chosen,
  search: boolean,
  signal?: AbortSignal,
): Promise<Movie> {
  const { id: _, ...rest } = found
  const json = {
    ...rest,
    qualityProfileId: chosen.profile.id,
    rootFolderPath: chosen.rootFolder,
    monitored: true,
    minimumAvailability: 'released',
    addOptions: { monitor: 'movieOnly', searchForMovie: search },
  }
  return radarr.send('POST', `${API}/movie`, { schema: movie, body: { json }, signal, limit: WEB_LIMIT })
}

/** Reads monitored films without a file, latest release first. */
export async function readMissingMovies(
  radarr: Upstream,
  limit: number,
  signal?: AbortSignal,
): Promise<{ items: Movie[]; total: number }> {
  const query = {
    page: 1,
    pageSize: limit,
    sortKey: 'movieMetadata.digitalRelease',
    sortDirection: 'descending',
    monitored: true,
  }
  const found = await radarr.get(`${API}/wanted/missing`, { schema: paged(movie), query, signal })
  return { items: found.records, total: found.totalRecords }
}

/** Reads films with a release between the two times (ISO 8601). */
export function readMovieCalendar(
  radarr: Upstream,
  span: { start: string; end: string; unmonitored: boolean },
  signal?: AbortSignal,
): Promise<Movie[]> {
  return radarr.get(`${API}/calendar`, { schema: z.array(movie), query: span, signal })
}

/** Reads a film's events, latest first. */
export function readMovieHistory(
  radarr: Upstream,
  movieId: number,
  signal?: AbortSignal,
): Promise<HistoryEntry[]> {
  return radarr.get(`${API}/history/movie`, { schema: z.array(historyEntry), query: { movieId }, signal })
}
