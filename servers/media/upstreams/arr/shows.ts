import { z } from 'zod'
import type { Upstream } from '../../../kit/upstream/upstream.ts'
import type { Chosen } from './arr.ts'
import { API, WEB_LIMIT } from './arr.ts'
import {
  type Episode,
  episode,
  type HistoryEntry,
  historyEntry,
  paged,
  type Series,
  series,
} from './shapes.ts'

/* Requests to Sonarr. Every function rejects with UpstreamFailure, or with the signal's reason. */

/** Searches the web as Sonarr does; `term` may be "tvdb:81189". Series that Sonarr manages have an id. */
export function lookUpSeries(sonarr: Upstream, term: string, signal?: AbortSignal): Promise<Series[]> {
  return sonarr.get(`${API}/series/lookup`, {
    schema: z.array(series),
    query: { term },
    signal,
    limit: WEB_LIMIT,
  })
}

/** Returns the series that Sonarr manages, or undefined. */
export async function findSeries(
  sonarr: Upstream,
  tvdbId: number,
  signal?: AbortSignal,
): Promise<Series | undefined> {
  const found = await sonarr.get(`${API}/series`, { schema: z.array(series), query: { tvdbId }, signal })
  return found.find(one => one.tvdbId === tvdbId)
}

/**
 * Adds a series that a lookup found, by sending the whole object back as Sonarr's own page does. `seasons`
 * are then the only monitored ones: without `addOptions.monitor` Sonarr uses the seasons' own flags.
 */
export function addSeries(
  sonarr: Upstream,
  found: Series,
  chosen: Chosen,
  options: { seasons: readonly number[] | undefined; search: boolean },
  signal?: AbortSignal,
): Promise<Series> {
  const { id: _, ...rest } = found
  const { seasons, search } = options
  const json = {
    ...rest,
    seasons: found.seasons.map(one => ({
      ...one,
      monitored: seasons === undefined ? one.seasonNumber > 0 : seasons.includes(one.seasonNumber),
    })),
    qualityProfileId: chosen.profile.id,
    rootFolderPath: chosen.rootFolder,
    monitored: true,
    seasonFolder: true,
    addOptions: {
      ...(seasons === undefined ? { monitor: 'all' } : { ignoreEpisodesWithFiles: true }),
      searchForMissingEpisodes: search,
    },
  }
  return sonarr.send('POST', `${API}/series`, { schema: series, body: { json }, signal, limit: WEB_LIMIT })
}

export function readEpisodes(sonarr: Upstream, seriesId: number, signal?: AbortSignal): Promise<Episode[]> {
  return sonarr.get(`${API}/episode`, { schema: z.array(episode), query: { seriesId }, signal })
}

/** Reads monitored episodes that have aired and have no file, last aired first. */
export async function readMissingEpisodes(
  sonarr: Upstream,
  limit: number,
  signal?: AbortSignal,
): Promise<{ items: Episode[]; total: number }> {
  const query = {
    page: 1,
    pageSize: limit,
    sortKey: 'episodes.airDateUtc',
    sortDirection: 'descending',
    includeSeries: true,
    monitored: true,
  }
  const found = await sonarr.get(`${API}/wanted/missing`, { schema: paged(episode), query, signal })
  return { items: found.records, total: found.totalRecords }
}

/** Reads episodes aired between the two times (ISO 8601). */
export function readEpisodeCalendar(
  sonarr: Upstream,
  span: { start: string | undefined; end: string | undefined; unmonitored: boolean },
  signal?: AbortSignal,
): Promise<Episode[]> {
  const query = { ...span, includeSeries: true }
  return sonarr.get(`${API}/calendar`, { schema: z.array(episode), query, signal })
}

/** Reads a series' events, latest first. */
export function readSeriesHistory(
  sonarr: Upstream,
  seriesId: number,
  signal?: AbortSignal,
): Promise<HistoryEntry[]> {
  return sonarr.get(`${API}/history/series`, { schema: z.array(historyEntry), query: { seriesId }, signal })
}
