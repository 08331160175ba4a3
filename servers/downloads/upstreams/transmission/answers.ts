import { z } from 'zod'
import type { Download, DownloadState, Finished, Snapshot } from '../download-client.ts'
import { toTorrentSnapshot } from '../to-torrent-snapshot.ts'

/** The requested fields of `torrent-get`. */
export const FIELDS = [
  'id',
  'hashString',
  'name',
  'status',
  'sizeWhenDone',
  'leftUntilDone',
  'metadataPercentComplete',
  'rateDownload',
  'eta',
  'error',
  'errorString',
  'doneDate',
  'addedDate',
  'labels',
  'bandwidthPriority',
  'queuePosition',
  'isStalled',
] as const

const torrent = z.object({
  id: z.number(),
  hashString: z.string(),
  name: z.string(),
  /** 0 stopped, 1 waits for a check, 2 checks, 3 waits, 4 loads, 5 waits to seed, 6 seeds. */
  status: z.number(),
  sizeWhenDone: z.number(),
  leftUntilDone: z.number(),
  metadataPercentComplete: z.number().default(1),
  rateDownload: z.number(),
  eta: z.number(),
  /** 0 none, 1 tracker warning, 2 tracker error, 3 local error. */
  error: z.number(),
  errorString: z.string(),
  doneDate: z.number(),
  addedDate: z.number(),
  labels: z.array(z.string()).default([]),
  bandwidthPriority: z.number(),
  queuePosition: z.number(),
  isStalled: z.boolean().default(false),
})
type Torrent = z.output<typeof torrent>
export const torrentsAnswer = z.object({ torrents: z.array(torrent) })

export const sessionAnswer = z.object({
  version: z.string(),
  'speed-limit-down': z.number(),
  'speed-limit-down-enabled': z.boolean(),
  'alt-speed-down': z.number().optional(),
  'alt-speed-enabled': z.boolean().optional(),
  'download-dir-free-space': z.number().optional(),
  units: z.object({ 'speed-bytes': z.number().positive() }),
})
export type Session = z.output<typeof sessionAnswer>

const FAILED_HERE = 3
const STATES: Readonly<Record<number, DownloadState>> = {
  0: 'paused',
  1: 'checking',
  2: 'checking',
  3: 'queued',
  4: 'downloading',
}
const PRIORITIES: Readonly<Record<number, string>> = { [-1]: 'low', 0: 'normal', 1: 'high' }

export function toSnapshot(session: Session, torrents: readonly Torrent[]): Snapshot {
  const open = torrents.filter(one => !isComplete(one)).sort((a, b) => a.queuePosition - b.queuePosition)
  const downloads = open.map(toDownload)
  const finished = torrents.filter(one => isComplete(one) || isBroken(one)).map(toFinished)
  const free = session['download-dir-free-space']
  return toTorrentSnapshot({
    speed: torrents.reduce((sum, { rateDownload }) => sum + rateDownload, 0),
    limit: toLimit(session),
    free: free === undefined || free < 0 ? undefined : free,
    downloads,
    finished,
  })
}

/** Returns the limit in bytes per second. Active alternative limits ("turtle mode") take precedence. */
function toLimit(session: Session): number | undefined {
  const unit = session.units['speed-bytes']
  if (session['alt-speed-enabled']) return (session['alt-speed-down'] ?? 0) * unit
  return session['speed-limit-down-enabled'] ? session['speed-limit-down'] * unit : undefined
}

/**
 * Tells whether a torrent is complete. A magnet link has no data, not even a size, until its list of files
 * has arrived.
 */
function isComplete(one: Torrent): boolean {
  return one.leftUntilDone === 0 && one.metadataPercentComplete >= 1
}

function isBroken(one: Torrent): boolean {
  return one.error === FAILED_HERE && !isComplete(one)
}

function toDownload(one: Torrent): Download {
  return {
    id: one.hashString,
    name: one.name,
    state: toState(one),
    size: one.sizeWhenDone,
    left: one.leftUntilDone,
    speed: one.rateDownload,
    eta: one.eta >= 0 ? one.eta : undefined,
    category: one.labels[0],
    priority: PRIORITIES[one.bandwidthPriority],
    reason: one.errorString || undefined,
  }
}

function toState(one: Torrent): DownloadState {
  if (isBroken(one)) return 'failed'
  const state = STATES[one.status] ?? 'processing'
  if (state !== 'downloading') return state
  if (one.metadataPercentComplete < 1) return 'fetching'
  return one.isStalled && one.rateDownload === 0 ? 'stalled' : state
}

function toFinished(one: Torrent): Finished {
  const failed = isBroken(one)
  return {
    id: one.hashString,
    name: one.name,
    outcome: failed ? 'failed' : 'completed',
    size: one.sizeWhenDone,
    key: `${one.hashString}:${one.addedDate}`,
    recoverable: failed,
    at: failed || one.doneDate <= 0 ? undefined : one.doneDate * 1000,
    category: one.labels[0],
    reason: one.errorString || (failed ? 'Transmission does not say why' : undefined),
    seeding: !failed && one.status >= 5,
    deletable: one.sizeWhenDone - one.leftUntilDone,
  }
}
