import type { Wanted } from '../titles.ts'
import { type Asked, gather, toUnknown } from '../tools/common.ts'
import { findManagedMovies, findManagedSeries } from '../upstreams/arr/managed.ts'
import type { Media, Radarr, Sonarr } from '../upstreams/upstreams.ts'
import type { Subject } from './facts.ts'

export type MediaType = 'movie' | 'show'

/**
 * Finds the titles in Radarr and Sonarr: one, or several that a person must choose from. "Not managed" is an
 * answer too; if no program answers, it is unknown whether the title is managed. A title that several
 * instances manage counts once, for the first.
 */
export async function findSubjects(
  { radarrs, sonarrs }: Pick<Media, 'radarrs' | 'sonarrs'>,
  wanted: Wanted,
  type: MediaType | undefined,
  signal: AbortSignal,
): Promise<Subject[]> {
  const asked = [
    ...(type === 'show' ? [] : radarrs.map(radarr => askRadarr(radarr, wanted, signal))),
    ...(type === 'movie' ? [] : sonarrs.map(sonarr => askSonarr(sonarr, wanted, signal))),
  ]
  if (asked.length === 0) return [toUnmanaged(wanted, type, 'Radarr and Sonarr are not configured')]
  const { found, unknown } = await gather(asked, signal).catch(error => {
    signal.throwIfAborted()
    return { found: [], unknown: [toUnknown('Radarr and Sonarr', error)] }
  })
  const subjects = new Map(
    found
      .flat()
      .toReversed()
      .map(one => [toKey(one), one]),
  )
  return subjects.size > 0 ? [...subjects.values()].reverse() : [toUnmanaged(wanted, type, unknown[0]?.why)]
}

function askRadarr(radarr: Radarr, wanted: Wanted, signal: AbortSignal): Asked<Subject[]> {
  return {
    upstream: radarr.upstream.title,
    async ask() {
      const movies = await findManagedMovies(radarr.upstream, wanted, signal)
      return movies.map(movie => {
        const { title, year, tmdbId } = movie
        return { kind: 'movie', title, year: year || undefined, tmdbId, radarr, movie }
      })
    },
  }
}

function askSonarr(sonarr: Sonarr, wanted: Wanted, signal: AbortSignal): Asked<Subject[]> {
  return {
    upstream: sonarr.upstream.title,
    async ask() {
      const all = await findManagedSeries(sonarr.upstream, wanted, signal)
      return all.map(series => {
        const { title, year } = series
        return { kind: 'show', title, year: year || undefined, sonarr, series }
      })
    },
  }
}

function toKey(subject: Subject): string {
  return `${subject.kind} ${subject.kind === 'movie' ? subject.tmdbId : subject.kind === 'show' ? subject.series.tvdbId : ''}`
}

function toUnmanaged({ title, year }: Wanted, type: MediaType | undefined, why: string | undefined): Subject {
  const managed =
    why === undefined ? ({ known: true, value: undefined } as const) : ({ known: false, why } as const)
  return { kind: 'unmanaged', title, year, type, managed }
}
