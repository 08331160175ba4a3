import { z } from 'zod'
import type { Upstream } from '../../kit/upstream/upstream.ts'
import { VERSION } from '../../kit/version.ts'
import type { JellyfinSettings } from '../config.ts'
import { type Ask, createAsk, DEVICE } from './sdk.ts'
import {
  type Item,
  itemPage,
  type Library,
  libraries,
  type Session,
  sessions,
  system,
  tasks,
} from './shapes.ts'

const FIELDS = ['DateCreated', 'Path', 'ProviderIds'] as const
/** The empty 204 answer to a change. */
const nothing = z.undefined({ error: 'nothing was expected' })

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

/** One Jellyfin. Every method rejects with UpstreamFailure, or with the signal's reason. */
export interface Jellyfin extends JellyfinSettings {
  readonly upstream: Upstream
  /** Headers that authorise the socket. */
  readonly headers: Readonly<Record<string, string>>
  items(query: ItemQuery, signal?: AbortSignal): Promise<{ items: Item[]; total: number }>
  sessions(signal?: AbortSignal): Promise<Session[]>
  libraries(signal?: AbortSignal): Promise<Library[]>
  showMessage(session: string, text: string, signal?: AbortSignal): Promise<void>
  stop(session: string, signal?: AbortSignal): Promise<void>
  /** Scans all libraries, or the one with this id. Resolves when the scan has begun. */
  scan(library: string | undefined, signal?: AbortSignal): Promise<void>
  scanProgress(library: string | undefined, signal?: AbortSignal): Promise<ScanProgress>
  readVersion(signal?: AbortSignal): Promise<string | undefined>
}

export function createJellyfin(
  given: JellyfinSettings,
  open: (headers: Record<string, string>) => Upstream,
): Jellyfin {
  const { URL: url, API_KEY: key } = given.settings
  const headers = { authorization: toAuthorization(key) }
  const upstream = open(headers)
  const ask = createAsk(upstream, { url, key, version: VERSION })
  return {
    ...given,
    upstream,
    headers,
    ...createReads(ask),
    ...createActions(ask),
    readVersion: async signal =>
      (await upstream.get('/System/Info', { schema: system, signal })).Version ?? undefined,
  }
}

/** Returns the header that Jellyfin documents. The key is in no address, so it is in no log. */
function toAuthorization(key: string): string {
  const fields = {
    Client: 'Superbloom',
    Device: DEVICE.name,
    DeviceId: DEVICE.id,
    Version: VERSION,
    Token: key,
  }
  const parts = Object.entries(fields).map(([name, value]) => `${name}="${encodeURIComponent(value)}"`)
  return `MediaBrowser ${parts.join(', ')}`
}

function createReads(ask: Ask): Pick<Jellyfin, 'items' | 'sessions' | 'libraries' | 'scanProgress'> {
  const readLibraries: Jellyfin['libraries'] = async signal => {
    const { LibraryStructureApi } = await import(
      '@jellyfin/sdk/lib/generated-client/api/library-structure-api.js'
    )
    return ask(LibraryStructureApi, api => api.getVirtualFolders(), libraries, signal)
  }
  return {
    libraries: readLibraries,
    async items(query, signal) {
      const { LibraryApi } = await import('@jellyfin/sdk/lib/generated-client/api/library-api.js')
      const found = await ask(LibraryApi, api => api.getItems(toItemQuery(query)), itemPage, signal)
      return { items: found.Items, total: Math.max(found.TotalRecordCount, found.Items.length) }
    },
    async sessions(signal) {
      const { SessionApi } = await import('@jellyfin/sdk/lib/generated-client/api/session-api.js')
      return ask(SessionApi, api => api.getSessions(), sessions, signal)
    },
    async scanProgress(id, signal) {
      if (id !== undefined)
        return toLibraryProgress((await readLibraries(signal)).find(one => one.ItemId === id))
      const { ScheduledTaskApi } = await import(
        '@jellyfin/sdk/lib/generated-client/api/scheduled-task-api.js'
      )
      const all = await ask(ScheduledTaskApi, api => api.getTasks(), tasks, signal)
      const scan = all.find(one => one.Key === 'RefreshLibrary')
      if (scan?.State !== 'Running') return { running: false }
      return { running: true, percent: scan.CurrentProgressPercentage ?? undefined }
    },
  }
}

function createActions(ask: Ask): Pick<Jellyfin, 'showMessage' | 'stop' | 'scan'> {
  return {
    async showMessage(sessionId, text, signal) {
      const { SessionApi } = await import('@jellyfin/sdk/lib/generated-client/api/session-api.js')
      const messageCommand = { Header: 'Message', Text: text, TimeoutMs: 10_000 }
      await ask(SessionApi, api => api.sendMessageCommand({ sessionId, messageCommand }), nothing, signal)
    },
    async stop(sessionId, signal) {
      const { SessionApi } = await import('@jellyfin/sdk/lib/generated-client/api/session-api.js')
      await ask(SessionApi, api => api.sendPlaystateCommand({ sessionId, command: 'Stop' }), nothing, signal)
    },
    async scan(id, signal) {
      const { LibraryApi } = await import('@jellyfin/sdk/lib/generated-client/api/library-api.js')
      if (id === undefined) {
        await ask(LibraryApi, api => api.refreshLibrary(), nothing, signal)
        return
      }
      const modes = { metadataRefreshMode: 'Default', imageRefreshMode: 'Default' } as const
      await ask(LibraryApi, api => api.refreshItem({ itemId: id, ...modes }), nothing, signal)
    },
  }
}

function toItemQuery(query: ItemQuery) {
  const { search, types, parent, limit, offset = 0, newest = false } = query
  return {
    recursive: true,
    includeItemTypes: [...types],
    fields: [...FIELDS],
    enableImages: false,
    excludeLocationTypes: ['Virtual' as const],
    limit,
    startIndex: offset,
    ...(search === undefined ? {} : { searchTerm: search }),
    ...(parent === undefined ? {} : { parentId: parent }),
    ...(newest ? { sortBy: ['DateCreated' as const], sortOrder: ['Descending' as const] } : {}),
  }
}

function toLibraryProgress(library: Library | undefined): ScanProgress {
  const status = library?.RefreshStatus
  if (status !== 'Active' && status !== 'Queued') return { running: false }
  return { running: true, percent: library?.RefreshProgress ?? undefined }
}
