import type { Clock } from '../../kit/clock.ts'
import type { Emit } from '../../kit/events.ts'
import { createLevelWatcher } from '../../kit/levels.ts'
import { createChanges, createNews } from '../../kit/news.ts'
import type { Watcher } from '../../kit/server.ts'
import { cleanText } from '../../kit/text.ts'
import type { DownloadsSettings } from '../config.ts'
import type { NamedClient } from '../upstreams/clients.ts'
import type { Finished, Snapshot } from '../upstreams/download-client.ts'

export interface WatcherDeps {
  clients: readonly NamedClient[]
  settings: DownloadsSettings
  emit: Emit
  clock: Clock
}

/**
 * Creates one watcher for each client, so that one that is down delays no other. One probe serves all its
 * events.
 */
export function createWatchers(deps: WatcherDeps): Watcher[] {
  return deps.clients.map(named => createWatcher(named, deps))
}

function createWatcher(named: NamedClient, deps: WatcherDeps): Watcher {
  const { name } = named
  const raise = createHistoryWatch(name, deps.emit)
  let latest: Snapshot | undefined
  const disk = createDiskWatch(name, () => latest, deps)
  return {
    name,
    every: deps.settings.interval,
    async poll() {
      latest = await named.readSnapshot()
      raise(latest.finished)
      await disk?.poll()
    },
  }
}

/**
 * Reports an ending once. A failing torrent is a state: it is raised when it begins, and again after it had
 * recovered.
 */
function createHistoryWatch(client: string, emit: Emit): (finished: readonly Finished[]) => void {
  const ended = createNews()
  const broken = createChanges()
  return finished => {
    const byKey = new Map(finished.map(one => [toKey(client, one), one]))
    const keys = (recoverable: boolean) =>
      [...byKey].filter(([, one]) => one.recoverable === recoverable).map(([key]) => key)
    for (const key of [...ended.look(keys(false)), ...broken.look(keys(true))]) {
      const one = byKey.get(key)
      if (one) raise(client, one, key, emit)
    }
  }
}

function toKey(client: string, { key, outcome }: Finished): string {
  return `download_${outcome === 'failed' ? 'failed' : 'complete'}:${client}:${key}`
}

function raise(client: string, one: Finished, key: string, emit: Emit): void {
  const payload = {
    client,
    name: cleanText(one.name),
    size: one.size,
    ...(one.category === undefined ? {} : { category: cleanText(one.category, 100) }),
  }
  if (one.outcome === 'completed') emit('download_complete', payload, key)
  else
    emit(
      'download_failed',
      { ...payload, ...(one.reason === undefined ? {} : { reason: cleanText(one.reason, 300) }) },
      key,
    )
}

/**
 * Watches for less free space than the setting or the queue needs; the value is the number of missing bytes.
 */
function createDiskWatch(
  client: string,
  latest: () => Snapshot | undefined,
  { settings, emit, clock }: WatcherDeps,
): Watcher | undefined {
  const { diskFree, diskClear, interval } = settings
  if (diskFree === undefined) return undefined
  const read = async () => {
    const { free, needed = 0 } = latest() ?? {}
    if (free === undefined) return []
    const payload = { client, free, ...(needed > 0 ? { needed } : {}) }
    return [{ key: `disk_full_warning:${client}`, value: Math.max(diskFree, needed) - free, payload }]
  }
  // The level must hold for two probes: qBittorrent reports 0 free until it has read the disk.
  const rule = { threshold: 1, sustain: 1, clearBelow: 1 - diskClear }
  return createLevelWatcher({ type: 'disk_full_warning', rule, every: interval, read }, emit, clock)
}
