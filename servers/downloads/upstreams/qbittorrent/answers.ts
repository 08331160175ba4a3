import { z } from 'zod'
import type { Download, DownloadState, Finished, Snapshot } from '../download-client.ts'
import { toTorrentSnapshot } from '../to-torrent-snapshot.ts'

/** One torrent in the answers of `sync/maindata` and `torrents/info`. */
export const torrentAnswer = z.object({
  name: z.string().default(''),
  state: z.string().default('unknown'),
  size: z.number().default(0),
  amount_left: z.number().default(0),
  dlspeed: z.number().default(0),
  eta: z.number().default(0),
  category: z.string().default(''),
  priority: z.number().default(0),
  added_on: z.number().default(0),
  completion_on: z.number().default(-1),
})
type Torrent = z.output<typeof torrentAnswer>

/** The answer of `sync/maindata?rid=0`: the whole state. */
export const maindataAnswer = z.object({
  torrents: z.record(z.string(), torrentAnswer).default({}),
  server_state: z.object({
    dl_info_speed: z.number(),
    dl_rate_limit: z.number(),
    free_space_on_disk: z.number().optional(),
  }),
})
export type Maindata = z.output<typeof maindataAnswer>

/** The answer of `log/main`. */
export const logAnswer = z.array(z.object({ message: z.string() }))
export type LogLines = z.output<typeof logAnswer>

/** Seconds (a hundred days) that qBittorrent reports when it does not know the ETA. */
const ETA_UNKNOWN = 8_640_000
const FAILED = ['error', 'missingFiles']
const STATES: Readonly<Record<string, DownloadState>> = {
  downloading: 'downloading',
  forcedDL: 'downloading',
  stalledDL: 'stalled',
  queuedDL: 'queued',
  pausedDL: 'paused',
  stoppedDL: 'paused',
  metaDL: 'fetching',
  forcedMetaDL: 'fetching',
  checkingDL: 'checking',
  checkingResumeData: 'checking',
  allocating: 'processing',
  moving: 'processing',
  error: 'failed',
  missingFiles: 'failed',
}

/** Tells whether a torrent fails and was never complete. */
export function isBroken(torrent: Torrent): boolean {
  return FAILED.includes(torrent.state) && torrent.completion_on <= 0
}

/**
 * Returns the torrents that "all downloads" means. The paused state does not decide, because it is up to two
 * seconds old. Forced torrents are left out: a start would end that.
 */
export function toUnfinished({ torrents }: Maindata): string[] {
  const isMeant = (torrent: Torrent) =>
    !isComplete(torrent) && !isBroken(torrent) && !torrent.state.startsWith('forced')
  return Object.entries(torrents)
    .filter(([, torrent]) => isMeant(torrent))
    .map(([id]) => id)
}

/** Tells whether a torrent is complete, seeding or not. */
function isComplete(torrent: Torrent): boolean {
  return torrent.completion_on > 0 && (torrent.amount_left === 0 || !(torrent.state in STATES))
}

/** Converts the answer to a snapshot; the reasons of failed torrents come from `log`. */
export function toSnapshot({ torrents, server_state: server }: Maindata, log: LogLines): Snapshot {
  const all = Object.entries(torrents)
  const open = all.filter(([, torrent]) => !isComplete(torrent))
  const downloads = open
    .sort(([, a], [, b]) => toPlace(a) - toPlace(b) || a.added_on - b.added_on)
    .map(([id, torrent]) => toDownload(id, torrent, log))
  const finished = all
    .filter(([, torrent]) => isComplete(torrent) || isBroken(torrent))
    .map(([id, torrent]) => toFinished(id, torrent, log))
  return toTorrentSnapshot({
    speed: server.dl_info_speed,
    limit: server.dl_rate_limit > 0 ? server.dl_rate_limit : undefined,
    // qBittorrent answers -1 while the folder does not exist.
    free: (server.free_space_on_disk ?? -1) < 0 ? undefined : server.free_space_on_disk,
    downloads,
    finished,
  })
}

/** Returns the place in the queue; torrents outside the queue come last. */
function toPlace({ priority }: Torrent): number {
  return priority > 0 ? priority : Number.MAX_SAFE_INTEGER
}

function toDownload(id: string, torrent: Torrent, log: LogLines): Download {
  const { name, size, amount_left: left, dlspeed: speed, eta, category, priority } = torrent
  return {
    id,
    name,
    state: STATES[torrent.state] ?? 'processing',
    size,
    left,
    speed,
    eta: eta > 0 && eta < ETA_UNKNOWN ? eta : undefined,
    category: category || undefined,
    priority: priority > 0 ? `number ${priority} in the queue` : undefined,
    reason: toReason(torrent, log),
  }
}

function toFinished(id: string, torrent: Torrent, log: LogLines): Finished {
  const { name, size, amount_left: left, category, completion_on: completed } = torrent
  const failed = isBroken(torrent)
  return {
    id,
    name,
    outcome: failed ? 'failed' : 'completed',
    size,
    key: `${id}:${torrent.added_on}`,
    recoverable: failed,
    at: completed > 0 ? completed * 1000 : undefined,
    category: category || undefined,
    reason: toReason(torrent, log),
    seeding: !failed && /^(uploading|stalledUP|queuedUP|forcedUP)$/.test(torrent.state),
    deletable: size - left,
  }
}

function toReason(torrent: Torrent, log: LogLines): string | undefined {
  if (torrent.state === 'stalledDL') return 'nobody who has it sends anything'
  return FAILED.includes(torrent.state) ? findReason(torrent, log) : undefined
}

function findReason({ name, state }: Torrent, log: LogLines): string {
  if (state === 'missingFiles') return 'its files are not where they were'
  const line = name === '' ? undefined : log.findLast(({ message }) => message.includes(name))
  return line?.message ?? 'qBittorrent stopped it with an error, and its log does not say why'
}
