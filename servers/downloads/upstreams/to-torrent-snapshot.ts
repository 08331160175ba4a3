import type { Snapshot } from './download-client.ts'

/** Returns the snapshot of a torrent client, which pauses its downloads one by one. */
export function toTorrentSnapshot(read: Omit<Snapshot, 'paused' | 'needed'>): Snapshot {
  const running = read.downloads.filter(({ state }) => state !== 'paused')
  return {
    ...read,
    paused: read.downloads.length > 0 && running.length === 0,
    needed: running.reduce((sum, { left }) => sum + left, 0),
    finished: read.finished.toSorted((a, b) => (b.at ?? 0) - (a.at ?? 0)),
  }
}
