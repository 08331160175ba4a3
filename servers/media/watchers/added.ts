import { parseTime } from '../../kit/clock.ts'
import type { Emit } from '../../kit/events.ts'
import { createNews } from '../../kit/news.ts'
import type { Watcher } from '../../kit/server.ts'
import { cleanText, toCountText } from '../../kit/text.ts'
import { type Jellyfin, readItems, readLibraries } from '../upstreams/jellyfin/jellyfin.ts'
import { findLibrary, toKind } from '../upstreams/jellyfin/libraries.ts'
import { toItemTitle } from '../upstreams/jellyfin/playing.ts'
import type { Item, Library } from '../upstreams/jellyfin/shapes.ts'

/** Number of newest items that a probe reads: more than arrive between two probes. */
const LOOKED_AT = 200

/**
 * Raises media_added for new items in a Jellyfin's libraries. The first probe raises nothing. Episodes of one
 * series that arrive between two probes are one event, "Severance: 9 episodes" of the type "series".
 */
export function createAddedWatcher(jellyfin: Jellyfin, deps: { every: number; emit: Emit }): Watcher {
  const news = createNews()
  const { name } = jellyfin
  let oldest = 0
  return {
    name: `libraries of ${name}`,
    every: deps.every,
    async poll() {
      const [{ items }, folders] = await Promise.all([
        readItems(jellyfin, { types: ['Movie', 'Episode', 'MusicAlbum'], limit: LOOKED_AT, newest: true }),
        readLibraries(jellyfin),
      ])
      const fresh = new Set(news.look(items.map(item => item.Id)))
      // After a deletion, older items move up into the newest ones; they are not new.
      const added = items.filter(item => fresh.has(item.Id) && toAdded(item) >= oldest).reverse()
      const last = items.length < LOOKED_AT ? undefined : items.at(-1)
      oldest = last ? toAdded(last) : 0
      for (const group of groupBySeries(added)) raise(name, group, folders, deps.emit)
    },
  }
}

function toAdded(item: Item): number {
  return parseTime(item.DateCreated) ?? 0
}

function groupBySeries(items: readonly Item[]): Item[][] {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = (item.Type === 'Episode' && item.SeriesId) || item.Id
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return [...groups.values()]
}

function raise(instance: string, group: readonly Item[], folders: readonly Library[], emit: Emit): void {
  const [first] = group
  if (!first) return
  const library = cleanText(findLibrary(first, folders), 100)
  const isOne = group.length === 1
  const title = isOne
    ? toItemTitle(first)
    : `${first.SeriesName ?? 'A series'}: ${toCountText(group.length, 'episode')}`
  const payload = { title: cleanText(title), type: isOne ? toKind(first) : 'series', library }
  emit('media_added', payload, `media_added:${instance}:${first.Id}`)
}
