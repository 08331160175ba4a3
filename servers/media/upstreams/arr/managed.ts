import { z } from 'zod'
import type { Upstream } from '../../../kit/upstream/upstream.ts'
import { matchTitle, type Wanted } from '../../titles.ts'
import { API } from './arr.ts'
import { type Movie, movie, type Series, series } from './shapes.ts'

/** Bytes of a whole library, about 5 KiB for each title. It is read only to look for a title in it. */
export const LIBRARY_BYTES = 64 * 1024 * 1024

/**
 * Finds Radarr's films of this name: those with exactly this title, else those whose titles contain the
 * words.
 */
export async function findManagedMovies(
  radarr: Upstream,
  wanted: Wanted,
  signal?: AbortSignal,
): Promise<Movie[]> {
  const all = await radarr.get(`${API}/movie`, { schema: z.array(movie), signal })
  return pickNamed(all, wanted)
}

/** Finds Sonarr's series of this name, as `findManagedMovies` does. */
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
