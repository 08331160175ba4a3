import { cleanText } from '../../../kit/text.ts'
import type { QueueItem } from './shapes.ts'

const MAX_REASONS = 3

/** The state of a download; `stuck` means that a person must act, and `reason` is the program's own text. */
export interface QueueState {
  state: string
  stuck: boolean
  reason: string | undefined
}

const STATES: Readonly<Record<string, string>> = {
  importPending: 'downloaded, waiting to be imported',
  importBlocked: 'downloaded, but cannot be imported',
  importing: 'being imported',
  imported: 'imported',
  failedPending: 'failed, about to be tried another way',
  failed: 'failed',
  ignored: 'ignored',
}

const STATUSES: Readonly<Record<string, string>> = {
  queued: 'waiting in the download client',
  paused: 'paused in the download client',
  downloading: 'downloading',
  completed: 'downloaded',
  failed: 'failed in the download client',
  warning: 'stalled in the download client',
  delay: 'held back by a delay profile',
  downloadClientUnavailable: 'waiting: the download client does not answer',
  fallback: 'waiting for another download client',
}

const STUCK_STATES = new Set(['importBlocked', 'failedPending', 'failed'])
const STUCK_STATUSES = new Set(['paused', 'failed', 'warning', 'downloadClientUnavailable'])

/** Decides a queue entry's state in words, and whether a person must act. */
export function decideQueueState(item: QueueItem): QueueState {
  const tracked = item.trackedDownloadState ?? ''
  const status = item.status ?? ''
  const words = STATES[tracked] ?? STATUSES[status] ?? 'in an unknown state'
  const warned = item.trackedDownloadStatus === 'warning' || item.trackedDownloadStatus === 'error'
  const stuck = STUCK_STATES.has(tracked) || STUCK_STATUSES.has(status) || warned
  return { state: words, stuck, reason: toReason(item) }
}

/**
 * Joins the reasons. Radarr and Sonarr write them to two fields; both may have the same sentence, once or
 * once for each file.
 */
function toReason(item: QueueItem): string | undefined {
  const messages = (item.statusMessages ?? []).flatMap(({ title, messages }) => {
    return messages && messages.length > 0 ? messages : title ? [title] : []
  })
  const all = [item.errorMessage ?? '', ...messages].map(text => cleanText(text)).filter(text => text !== '')
  const reasons = [...new Set(all)].slice(0, MAX_REASONS)
  return reasons.length > 0 ? reasons.join('; ') : undefined
}

/** Returns the percentage that is loaded, or undefined if the size is not known. */
export function toDone(item: QueueItem): number | undefined {
  if (item.size <= 0) return undefined
  return Math.round(((item.size - item.sizeleft) / item.size) * 100)
}

/** Returns "Dune (2021)", "Severance S02E03", or the release's own name. */
export function toQueueTitle(item: QueueItem): string {
  if (item.movie) return toTitle(item.movie.title, item.movie.year)
  if (item.series && item.episode) {
    const { seasonNumber, episodeNumber } = item.episode
    return `${item.series.title} ${toEpisodeNumber(seasonNumber, episodeNumber)}`
  }
  return item.series?.title ?? item.title ?? 'something without a name'
}

/** Returns the episode's number, such as "S02E03". */
export function toEpisodeNumber(season: number, episode: number): string {
  return `S${String(season).padStart(2, '0')}E${String(episode).padStart(2, '0')}`
}

/** Returns "Dune (2021)", without the year if it is not known. */
export function toTitle(title: string, year: number | undefined | null): string {
  return year && !title.endsWith(`(${year})`) ? `${title} (${year})` : title
}
