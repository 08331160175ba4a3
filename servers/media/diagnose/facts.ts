import { parseTime } from '../../kit/clock.ts'
import { cleanText, quote } from '../../kit/text.ts'
import { decideChoice, matchTitle } from '../titles.ts'
import { toWhy } from '../tools/common.ts'
import {
  type Arr,
  countIndexers,
  readComplaints,
  readEpisodes,
  readHistory,
  readQueue,
} from '../upstreams/arr/arr.ts'
import { decideQueueState, toDone } from '../upstreams/arr/queue.ts'
import type { HistoryEntry, QueueItem, Title } from '../upstreams/arr/shapes.ts'
import { readItems, readScanProgress } from '../upstreams/jellyfin/jellyfin.ts'
import { readSeerrTitle, type Seerr, type SeerrKind, searchSeerr } from '../upstreams/seerr/seerr.ts'
import { decideRequestState, MEDIA, toRequester } from '../upstreams/seerr/states.ts'
import type { Media } from '../upstreams/upstreams.ts'
import type { Facts, Known, ManagedFacts } from './decide.ts'
import type { Subject } from './subject.ts'

const MAX_COMPLAINTS = 3
const IMPORTING = new Set(['importPending', 'importBlocked', 'importing'])

/**
 * Asks all upstreams in parallel; the facts of one that fails are unknown. Rejects only with the signal's
 * reason.
 */
export async function readFacts(media: Media, subject: Subject, signal: AbortSignal): Promise<Facts> {
  const { seerrs, jellyfins, clock } = media
  const toUnconfigured = (title: string) => ({ known: false, why: `${title} is not configured` }) as const
  const [request, managed, library, scans] = await Promise.all([
    seerrs.length > 0 ? know('Seerr', () => readRequest(seerrs, subject, signal)) : toUnconfigured('Seerr'),
    readManaged(subject, clock.now(), signal),
    jellyfins.length > 0
      ? know('Jellyfin', () => readLibrary(jellyfins, subject, signal))
      : toUnconfigured('Jellyfin'),
    Promise.allSettled(jellyfins.map(one => readScanProgress(one, undefined, signal))),
  ])
  signal.throwIfAborted()
  const scanning = scans.some(scan => scan.status === 'fulfilled' && scan.value.running)
  return { request, managed, library, scanning }
}

/** Returns the answer, or the reason why there is none. */
async function know<Value>(upstream: string, ask: () => Promise<Value>): Promise<Known<Value>> {
  try {
    return { known: true, value: await ask() }
  } catch (error) {
    return { known: false, why: toWhy(error, upstream) }
  }
}

async function readRequest(seerrs: readonly Seerr[], subject: Subject, signal: AbortSignal) {
  const { type } = subject
  const kinds: SeerrKind[] = type === undefined ? ['movie', 'tv'] : [type === 'movie' ? 'movie' : 'tv']
  for (const seerr of seerrs) {
    for (const kind of kinds) {
      const found = await searchSeerr(seerr, kind, subject.title, signal)
      const choice = decideChoice(toWanted(subject), found)
      const one =
        choice.kind === 'several' ? choice.found.find(other => other.status !== undefined) : undefined
      const meant = choice.kind === 'one' ? choice.found : one
      if (!meant || meant.status === undefined || meant.status === MEDIA.unknown) continue
      const { requests, status } = await readSeerrTitle(seerr, kind, meant.id, signal)
      const last = requests.at(-1)
      if (!last) continue
      const media = last.media ?? { status }
      return { state: decideRequestState({ ...last, media }), by: quote(toRequester(last), 60) }
    }
  }
  return undefined
}

/** Seerr's ids are TMDB's, which only films have in Radarr and Sonarr. */
function toWanted({ title, year, type, managed }: Subject) {
  const tmdbId = managed.known && type === 'movie' ? managed.value?.one.tmdbId : undefined
  return { title, year, id: tmdbId || undefined }
}

async function readLibrary(
  jellyfins: Media['jellyfins'],
  { title, year, type }: Subject,
  signal: AbortSignal,
) {
  const types = [
    ...(type === 'show' ? [] : ['Movie' as const]),
    ...(type === 'movie' ? [] : ['Series' as const]),
  ]
  for (const jellyfin of jellyfins) {
    const { items } = await readItems(jellyfin, { search: title, types, limit: 50 }, signal)
    const item = items.find(({ Name: name, ProductionYear: made }) => {
      const isSameYear = !year || !made || Math.abs(made - year) <= 1
      return isSameYear && matchTitle(title, name ?? '') === 'exact'
    })
    if (!item) continue
    const name = jellyfin.upstream.title
    if (item.Type !== 'Series') return { count: 1, name }
    const { total } = await readItems(jellyfin, { types: ['Episode'], parent: item.Id, limit: 1 }, signal)
    return { count: total, name }
  }
  return undefined
}

async function readManaged(
  { managed }: Subject,
  now: number,
  signal: AbortSignal,
): Promise<Facts['managed']> {
  if (!managed.known || managed.value === undefined) return managed as Facts['managed']
  const { arr, one } = managed.value
  return know(arr.upstream.title, () => readArrFacts(arr, one, now, signal))
}

async function readArrFacts(arr: Arr, one: Title, now: number, signal: AbortSignal): Promise<ManagedFacts> {
  const { upstream } = arr
  const id = one.id ?? 0
  const [{ items }, indexers, complaints, history, { isAbout, ...own }] = await Promise.all([
    readQueue(arr, signal),
    know(upstream.title, () => countIndexers(arr, signal)),
    know(upstream.title, () => readComplaints(arr, signal)),
    readHistory(arr, id, signal),
    arr.kind === 'radarr' ? toMovieFacts(one, now) : readSeriesFacts(arr, one, now, signal),
  ])
  return {
    program: upstream.title,
    ...own,
    ...toHistoryFacts(history.filter(isAbout)),
    queue: items
      .filter(item => (arr.kind === 'radarr' ? item.movieId : item.seriesId) === id)
      .map(toQueueFacts),
    indexers,
    complaints: complaints.known
      ? complaints.value.slice(0, MAX_COMPLAINTS).map(complaint => quote(complaint))
      : [],
  }
}

/** The facts that differ between films and series, and which events of the history count. */
type OwnFacts = Pick<
  ManagedFacts,
  'isSeries' | 'monitored' | 'released' | 'releaseAt' | 'files' | 'wanted'
> & { isAbout: (entry: HistoryEntry) => boolean }

function toMovieFacts(movie: Title, now: number): OwnFacts {
  const dates = [movie.inCinemas, movie.digitalRelease, movie.physicalRelease].map(parseTime)
  return {
    isSeries: false,
    monitored: movie.monitored ?? false,
    released: movie.isAvailable ?? true,
    releaseAt: dates
      .filter(at => at !== undefined)
      .sort((a, b) => a - b)
      .find(at => at > now),
    files: movie.hasFile ? 1 : 0,
    wanted: 1,
    isAbout: () => true,
  }
}

/** Files of unmonitored episodes do not count: they do not replace missing ones. */
async function readSeriesFacts(arr: Arr, series: Title, now: number, signal: AbortSignal): Promise<OwnFacts> {
  const monitored = (await readEpisodes(arr, series.id ?? 0, signal)).filter(one => one.monitored)
  const aired = monitored.filter(one => (parseTime(one.airDateUtc) ?? Infinity) <= now)
  const missing = new Set(aired.filter(one => !one.hasFile).map(one => one.id))
  return {
    isSeries: true,
    monitored: series.monitored === true && monitored.length > 0,
    released: aired.length > 0,
    releaseAt: parseTime(series.nextAiring),
    files: aired.length - missing.size,
    wanted: aired.length,
    isAbout: ({ episodeId }) => missing.size === 0 || missing.has(episodeId ?? 0),
  }
}

function toQueueFacts(item: QueueItem): ManagedFacts['queue'][number] {
  const { reason, ...state } = decideQueueState(item)
  return {
    ...state,
    reason: reason === undefined ? undefined : quote(reason),
    percent: toDone(item),
    isImporting: IMPORTING.has(item.trackedDownloadState ?? ''),
  }
}

function toHistoryFacts(history: readonly HistoryEntry[]): Pick<ManagedFacts, 'grabbedAt' | 'failure'> {
  const latest = (type: string) =>
    history
      .filter(one => one.eventType === type)
      .map(one => ({ at: parseTime(one.date) ?? 0, entry: one }))
      .sort((a, b) => b.at - a.at)[0]
  const failed = latest('downloadFailed')
  const message = failed?.entry.data?.['message']
  const why =
    typeof message === 'string' && message !== '' ? quote(cleanText(message)) : 'it does not say why'
  return { grabbedAt: latest('grabbed')?.at, failure: failed && { at: failed.at, why } }
}
