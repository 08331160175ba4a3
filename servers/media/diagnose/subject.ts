import { findManagedMovies, findManagedSeries } from '../arr/managed.ts'
import type { Wanted } from '../titles.ts'
import { type Asked, gather, toUnknown } from '../tools/common.ts'
import type { Media } from '../upstreams.ts'
import type { Subject } from './facts.ts'

export type MediaType = 'movie' | 'show'

/**
 * What a title stands for in Radarr and Sonarr: one, or several that a person must choose from. Not managed is an answer
 * too; where none of them answers, that it is managed is unknown.
 */
export async function findSubjects(
  { radarrs, sonarrs }: Media,
  wanted: Wanted,
  type: MediaType | undefined,
  signal: AbortSignal,
): Promise<Subject[]> {
  const { title, year } = wanted
  const movies = (type === 'show' ? [] : radarrs).map(
    (radarr): Asked<Subject[]> => ({
      upstream: radarr.upstream.title,
      ask: async () =>
        (await findManagedMovies(radarr.upstream, wanted, signal)).map(movie => ({
          kind: 'movie',
          title: movie.title,
          year: movie.year || undefined,
          tmdbId: movie.tmdbId,
          radarr,
          movie,
        })),
    }),
  )
  const shows = (type === 'movie' ? [] : sonarrs).map(
    (sonarr): Asked<Subject[]> => ({
      upstream: sonarr.upstream.title,
      ask: async () =>
        (await findManagedSeries(sonarr.upstream, wanted, signal)).map(series => ({
          kind: 'show',
          title: series.title,
          year: series.year || undefined,
          sonarr,
          series,
        })),
    }),
  )
  const unmanaged = (why: string | undefined): Subject[] => [
    {
      kind: 'unmanaged',
      title,
      year,
      type,
      managed: why === undefined ? { known: true, value: undefined } : { known: false, why },
    },
  ]
  const asked = [...movies, ...shows]
  if (asked.length === 0) return unmanaged('Radarr and Sonarr are not configured')
  const { found, unknown } = await gather(asked, signal).catch(error => {
    signal.throwIfAborted()
    return { found: [], unknown: [toUnknown('Radarr and Sonarr', error)] }
  })
  const subjects = found.flat()
  return subjects.length > 0 ? subjects : unmanaged(unknown[0]?.why)
}
