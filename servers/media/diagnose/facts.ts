import { cleanText, quote } from '../../kit/text.ts'
import { toMoment } from '../moments.ts'
import { decideChoice, matchTitle, type Wanted } from '../titles.ts'
import { toUnknown } from '../tools/common.ts'
import { readHealth, readIndexers, readQueue } from '../upstreams/arr/arr.ts'
import { readMovieHistory } from '../upstreams/arr/movies.ts'
import { decideQueueState, toDone } from '../upstreams/arr/queue.ts'
import type { Episode, HistoryEntry, Movie, QueueItem, Series } from '../upstreams/arr/shapes.ts'
import { readEpisodes, readSeriesHistory } from '../upstreams/arr/shows.ts'
import { readItems, readScanProgress } from '../upstreams/jellyfin/jellyfin.ts'
import { readSeerrTitle, type SeerrKind, searchSeerr } from '../upstreams/seerr/seerr.ts'
import { decideRequestState, MEDIA, toRequester } from '../upstreams/seerr/states.ts'
import type { Media, Radarr, Sonarr } from '../upstreams/upstreams.ts'
import type { Facts, Known, ManagedFacts } from './decide.ts'

const MAX_COMPLAINTS = 3
const IMPORTING = new Set(['importPending', 'importBlocked', 'importing'])

/** The identified film or series; without Radarr or Sonarr only its name is known. */
export type Subject =
  | { kind: 'movie'; title: string; year: number | undefined; tmdbId: number; radarr: Radarr; movie: Movie }
  | { kind: 'show'; title: string; year: number | undefined; sonarr: Sonarr; series: Series }
  | {
      kind: 'unmanaged'
      title: string
      year: number | undefined
      type: 'movie' | 'show' | undefined
      managed: Facts['managed']
    }

/**
 * Asks all upstreams in parallel; the facts of one that fails are unknown. Rejects only with the signal's
 * reason.
 */
export async function readFacts(media: Media, subject: Subject, signal: AbortSignal): Promise<Facts> {
  const [request, managed, library, scanning] = await Promise.all([
    know('Seerr', () => readRequest(media, subject, signal)),
    readManaged(subject, media.clock.now(), signal),
    know('Jellyfin', () => readLibrary(media, subject, signal)),
    readScanning(media, signal),
  ])
  signal.throwIfAborted()
  return {
    request: media.seerrs.length > 0 ? request : { known: false, why: 'Seerr is not configured' },
    managed,
    library: media.jellyfins.length > 0 ? library : { known: false, why: 'Jellyfin is not configured' },
    scanning,
  }
}

/** Returns the answer, or the reason why there is none. */
export async function know<Value>(upstream: string, ask: () => Promise<Value>): Promise<Known<Value>> {
  try {
    return { known: true, value: await ask() }
  } catch (error) {
    return { known: false, why: toUnknown(upstream, error).why }
  }
}

async function readRequest({ seerrs }: Media, subject: Subject, signal: AbortSignal) {
  for (const seerr of seerrs) {
    for (const kind of toSeerrKinds(subject)) {
      const found = await searchSeerr(seerr, kind, subject.title, signal)
      const choice = decideChoice(toWanted(subject, kind), found)
      const one =
        choice.kind === 'several' ? choice.found.find(other => other.status !== undefined) : undefined
      const meant = choice.kind === 'one' ? choice.found : one
      if (!meant || meant.status === undefined || meant.status === MEDIA.unknown) continue
      const { requests, status } = await readSeerrTitle(seerr, kind, meant.id, signal)
      const last = requests.at(-1)
      if (last) {
        const media = last.media ?? {
          mediaType: kind,
          tmdbId: meant.id,
          tvdbId: null,
          status,
          status4k: null,
        }
        return { state: decideRequestState({ ...last, media }), by: quote(toRequester(last), 60) }
      }
    }
  }
  return undefined
}

function toSeerrKinds(subject: Subject): SeerrKind[] {
  if (subject.kind === 'movie') return ['movie']
  if (subject.kind === 'show') return ['tv']
  return subject.type === undefined ? ['movie', 'tv'] : [subject.type === 'movie' ? 'movie' : 'tv']
}

function toWanted(subject: Subject, kind: SeerrKind): Wanted {
  const { title, year } = subject
  const id = subject.kind === 'movie' && kind === 'movie' && subject.tmdbId > 0 ? subject.tmdbId : undefined
  return { title, year, id }
}

async function readLibrary({ jellyfins }: Media, subject: Subject, signal: AbortSignal) {
  const types =
    subject.kind === 'movie'
      ? (['Movie'] as const)
      : subject.kind === 'show'
        ? (['Series'] as const)
        : (['Movie', 'Series'] as const)
  for (const jellyfin of jellyfins) {
    const { items } = await readItems(jellyfin, { search: subject.title, types, limit: 50 }, signal)
    const item = items.find(one => {
      const sameYear =
        !subject.year || !one.ProductionYear || Math.abs(one.ProductionYear - subject.year) <= 1
      return sameYear && matchTitle(subject.title, one.Name ?? '') === 'exact'
    })
    if (!item) continue
    const name = jellyfin.upstream.title
    if (item.Type !== 'Series') return { count: 1, name }
    const { total } = await readItems(jellyfin, { types: ['Episode'], parent: item.Id, limit: 1 }, signal)
    return { count: total, name }
  }
  return undefined
}

async function readScanning({ jellyfins }: Media, signal: AbortSignal): Promise<boolean> {
  const scans = await Promise.allSettled(jellyfins.map(one => readScanProgress(one, undefined, signal)))
  return scans.some(scan => scan.status === 'fulfilled' && scan.value.running)
}

async function readManaged(subject: Subject, now: number, signal: AbortSignal): Promise<Facts['managed']> {
  switch (subject.kind) {
    case 'movie':
      return know('Radarr', () => readMovieFacts(subject.radarr, subject.movie, now, signal))
    case 'show':
      return know('Sonarr', () => readSeriesFacts(subject.sonarr, subject.series, now, signal))
    case 'unmanaged':
      return subject.managed
    default:
      return subject satisfies never
  }
}

async function readMovieFacts(
  radarr: Radarr,
  movie: Movie,
  now: number,
  signal: AbortSignal,
): Promise<ManagedFacts> {
  const id = movie.id ?? 0
  const [common, history] = await Promise.all([
    readCommon(radarr, one => one.movieId === id, signal),
    readMovieHistory(radarr.upstream, id, signal),
  ])
  const dates = [movie.inCinemas, movie.digitalRelease, movie.physicalRelease].map(toMoment)
  const next = dates.filter(at => at !== undefined && at > now).sort((a, b) => (a ?? 0) - (b ?? 0))
  return {
    ...common,
    ...toHistoryFacts(history),
    isSeries: false,
    monitored: movie.monitored ?? false,
    released: movie.isAvailable ?? true,
    releaseAt: next[0],
    files: movie.hasFile ? 1 : 0,
    wanted: 1,
  }
}

async function readSeriesFacts(
  sonarr: Sonarr,
  series: Series,
  now: number,
  signal: AbortSignal,
): Promise<ManagedFacts> {
  const id = series.id ?? 0
  const [common, history, episodes] = await Promise.all([
    readCommon(sonarr, one => one.seriesId === id, signal),
    readSeriesHistory(sonarr.upstream, id, signal),
    readEpisodes(sonarr.upstream, id, signal),
  ])
  const monitored = episodes.filter(one => one.monitored)
  const aired = monitored.filter(one => isAired(one, now))
  const missing = new Set(aired.filter(one => !one.hasFile).map(one => one.id))
  const about = history.filter(one => missing.size === 0 || missing.has(one.episodeId ?? 0))
  return {
    ...common,
    ...toHistoryFacts(about),
    isSeries: true,
    monitored: series.monitored === true && monitored.length > 0,
    released: aired.length > 0,
    releaseAt: toMoment(series.nextAiring),
    files: episodes.filter(one => one.hasFile).length - unwantedFiles(episodes, aired),
    wanted: aired.length,
  }
}

function isAired(episode: Episode, now: number): boolean {
  const at = toMoment(episode.airDateUtc)
  return at !== undefined && at <= now
}

/** Counts the files of unmonitored episodes: they do not replace missing ones. */
function unwantedFiles(episodes: readonly Episode[], wanted: readonly Episode[]): number {
  return episodes.filter(one => one.hasFile && !wanted.includes(one)).length
}

async function readCommon(
  arr: Radarr | Sonarr,
  isAbout: (item: QueueItem) => boolean,
  signal: AbortSignal,
): Promise<Pick<ManagedFacts, 'program' | 'queue' | 'indexers' | 'complaints'>> {
  const { upstream } = arr
  const [{ items }, indexers, health] = await Promise.all([
    readQueue(arr, signal),
    know(upstream.title, () => readIndexers(upstream, signal)),
    know(upstream.title, () => readHealth(upstream, signal)),
  ])
  return {
    program: upstream.title,
    queue: items.filter(isAbout).map(item => {
      const { reason, ...state } = decideQueueState(item)
      const isImporting = IMPORTING.has(item.trackedDownloadState ?? '')
      return {
        ...state,
        reason: reason === undefined ? undefined : quote(reason),
        percent: toDone(item),
        isImporting,
      }
    }),
    indexers: indexers.known
      ? { known: true, value: indexers.value.filter(one => one.enableAutomaticSearch).length }
      : indexers,
    complaints: health.known
      ? health.value
          .filter(one => one.type === 'error' || one.type === 'warning')
          .slice(0, MAX_COMPLAINTS)
          .map(one => quote(one.message ?? one.source ?? ''))
      : [],
  }
}

function toHistoryFacts(history: readonly HistoryEntry[]): Pick<ManagedFacts, 'grabbedAt' | 'failure'> {
  const latest = (type: string) =>
    history
      .filter(one => one.eventType === type)
      .map(one => ({ at: toMoment(one.date) ?? 0, entry: one }))
      .sort((a, b) => b.at - a.at)[0]
  const failed = latest('downloadFailed')
  const message = failed?.entry.data?.['message']
  const why =
    typeof message === 'string' && message !== '' ? quote(cleanText(message)) : 'it does not say why'
  return { grabbedAt: latest('grabbed')?.at, failure: failed && { at: failed.at, why } }
}
