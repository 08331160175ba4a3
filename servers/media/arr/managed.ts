import { z } from 'zod'
import type { Upstream } from '../../kit/upstream/upstream.ts'
import { matchTitle, type Wanted } from '../titles.ts'
import { API } from './arr.ts'
import { type Movie, movie, type Series, series } from './shapes.ts'

/** A whole library is long, about 5 KiB for each title; it is asked for only where a title is looked for in it. */
export const LIBRARY_BYTES = 64 * 1024 * 1024

/** The films that Radarr manages under this name: those called exactly so, else those whose titles hold the words. */
export async function findManagedMovies(
  radarr: Upstream,
  wanted: Wanted,
  signal?: AbortSignal,
): Promise<Movie[]> {
  const all = await radarr.get(`${API}/movie`, { schema: z.array(movie), signal })
  return pickNamed(all, wanted)
}

/** The same for the series of Sonarr. */
export async function findManagedSeries(
  sonarr: Upstream,
  wanted: Wanted,
  signal?: AbortSignal,
): Promise<Series[]> {
  const all = await sonarr.get(`${API}/series`, { schema: z.array(series), signal })
  return pickNamed(all, wanted)
}

function pickNamed<One extends { title: string; year: number }>(all: readonly One[], wanted: Wanted): One[] {
  const { title, year } = wanted
  const named = all
    .filter(one => year === undefined || one.year === year)
    .map(one => ({ one, match: matchTitle(title, one.title) }))
  const exact = named.filter(({ match }) => match === 'exact')
  return (exact.length > 0 ? exact : named.filter(({ match }) => match === 'part')).map(({ one }) => one)
}
