import { z } from 'zod'
import type { Upstream } from '../../../kit/upstream/upstream.ts'
import { VERSION } from '../../../kit/version.ts'
import type { JellyfinSettings } from '../../config.ts'
import { type Item, itemPage, type Library, libraries, type Session, sessions, tasks } from './shapes.ts'

/* Requests to Jellyfin. Every function rejects with UpstreamFailure, or with the signal's reason. */

/** The empty 204 answer to a change. */
const nothing = z.undefined({ error: 'nothing was expected' })

export interface Jellyfin extends JellyfinSettings {
  readonly kind: 'jellyfin'
  readonly upstream: Upstream
}

export interface ItemQuery {
  search?: string
  types: readonly ('Movie' | 'Series' | 'Episode' | 'MusicAlbum')[]
  /** Id of a library or a series. */
  parent?: string | undefined
  limit: number
  offset?: number
  /** True to list the newest first. */
  newest?: boolean
}

/** A scan's progress in percent; undefined if the running task does not report it. */
export type ScanProgress = { running: false } | { running: true; percent: number | undefined }

/** Returns the headers of every request, as Jellyfin documents them. The key is in no address, so it is in no log. */
export function toJellyfinHeaders(key: string): Record<string, string> {
  const fields = {
    Client: 'Superbloom',
    Device: 'Superbloom',
    DeviceId: 'superbloom',
    Version: VERSION,
    Token: key,
  }
  const parts = Object.entries(fields).map(([name, value]) => `${name}="${encodeURIComponent(value)}"`)
  return { authorization: `MediaBrowser ${parts.join(', ')}` }
}

export async function readItems(
  { upstream }: Jellyfin,
  { search, types, parent, limit, offset = 0, newest = false }: ItemQuery,
  signal?: AbortSignal,
): Promise<{ items: Item[]; total: number }> {
  const query = {
    recursive: true,
    includeItemTypes: types,
    fields: ['DateCreated', 'Path', 'ProviderIds'],
    enableImages: false,
    excludeLocationTypes: 'Virtual',
    limit,
    startIndex: offset,
    searchTerm: search,
    parentId: parent,
    ...(newest ? { sortBy: 'DateCreated', sortOrder: 'Descending' } : {}),
  }
  const found = await upstream.get('/Items', { schema: itemPage, query, signal })
  return { items: found.Items, total: Math.max(found.TotalRecordCount, found.Items.length) }
}

export function readSessions({ upstream }: Jellyfin, signal?: AbortSignal): Promise<Session[]> {
  return upstream.get('/Sessions', { schema: sessions, signal })
}

export function readLibraries({ upstream }: Jellyfin, signal?: AbortSignal): Promise<Library[]> {
  return upstream.get('/Library/VirtualFolders', { schema: libraries, signal })
}

export async function showMessage(
  { upstream }: Jellyfin,
  session: string,
  text: string,
  signal?: AbortSignal,
): Promise<void> {
  const json = { Header: 'Message', Text: text, TimeoutMs: 10_000 }
  const path = `/Sessions/${encodeURIComponent(session)}/Message`
  await upstream.send('POST', path, { schema: nothing, body: { json }, signal })
}

export async function stopSession(
  { upstream }: Jellyfin,
  session: string,
  signal?: AbortSignal,
): Promise<void> {
  const path = `/Sessions/${encodeURIComponent(session)}/Playing/Stop`
  await upstream.send('POST', path, { schema: nothing, signal })
}

/** Scans all libraries, or the one with this id. Resolves when the scan has begun. */
export async function scan(
  { upstream }: Jellyfin,
  library: string | undefined,
  signal?: AbortSignal,
): Promise<void> {
  if (library === undefined) {
    await upstream.send('POST', '/Library/Refresh', { schema: nothing, signal })
    return
  }
  const query = { metadataRefreshMode: 'Default', imageRefreshMode: 'Default' }
  const path = `/Items/${encodeURIComponent(library)}/Refresh`
  await upstream.send('POST', path, { schema: nothing, query, signal })
}

export async function readScanProgress(
  jellyfin: Jellyfin,
  library: string | undefined,
  signal?: AbortSignal,
): Promise<ScanProgress> {
  if (library !== undefined) {
    const found = (await readLibraries(jellyfin, signal)).find(one => one.ItemId === library)
    const running = found?.RefreshStatus === 'Active' || found?.RefreshStatus === 'Queued'
    return running ? { running, percent: found?.RefreshProgress ?? undefined } : { running }
  }
  const all = await jellyfin.upstream.get('/ScheduledTasks', { schema: tasks, signal })
  const task = all.find(one => one.Key === 'RefreshLibrary')
  const running = task?.State === 'Running'
  return running ? { running, percent: task?.CurrentProgressPercentage ?? undefined } : { running }
}
