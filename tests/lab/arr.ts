import type { LabAnswer, LabRequest } from '../../hub/demo/http.ts'

/* The common parts of the lab's Radarr and Sonarr. */

export const PROFILES = [
  { id: 1, name: 'Any' },
  { id: 4, name: 'HD-1080p' },
  { id: 5, name: 'Ultra-HD' },
].map(profile => ({ ...profile, upgradeAllowed: true, cutoff: 1, items: [] }))

export const LANGUAGE = { id: 1, name: 'English' }

export interface QueueEntry {
  id: number
  title: string
  movieId?: number
  seriesId?: number
  episodeId?: number
  seasonNumber?: number
  size: number
  sizeleft: number
  status: string
  trackedDownloadStatus: string
  trackedDownloadState: string
  statusMessages: { title: string; messages: string[] }[]
  errorMessage?: string
  downloadClient: string
  indexer: string
  protocol: 'usenet' | 'torrent'
}

export interface HistoryRecord {
  id: number
  movieId?: number
  seriesId?: number
  episodeId?: number
  sourceTitle: string
  date: string
  eventType: string
  data: Record<string, string>
}

/** Creates an entry of a healthy download, with a test's changes. */
export function toQueueEntry(entry: Partial<QueueEntry> & { id: number; title: string }): QueueEntry {
  return {
    size: 8_000_000_000,
    sizeleft: 2_000_000_000,
    status: 'downloading',
    trackedDownloadStatus: 'ok',
    trackedDownloadState: 'downloading',
    statusMessages: [],
    downloadClient: 'SABnzbd',
    indexer: 'Lab Indexer',
    protocol: 'usenet',
    ...entry,
  }
}

/** Refuses requests without the key, which Radarr and Sonarr take in this header. */
export function refuseWithout(key: string) {
  return ({ headers, url }: LabRequest): LabAnswer | undefined =>
    headers['x-api-key'] === key || url.pathname === '/login'
      ? undefined
      : { status: 401, body: { error: 'Unauthorized' } }
}

export function toPage<Record>(url: URL, records: readonly Record[]): LabAnswer {
  const page = Number(url.searchParams.get('page') ?? 1)
  const pageSize = Number(url.searchParams.get('pageSize') ?? 10)
  const part = records.slice((page - 1) * pageSize, page * pageSize)
  return {
    body: {
      page,
      pageSize,
      sortKey: url.searchParams.get('sortKey') ?? 'id',
      sortDirection: 'descending',
      totalRecords: records.length,
      records: part,
    },
  }
}

/** Returns their form of a validation error. */
export function refusal(propertyName: string, errorMessage: string): LabAnswer {
  return { status: 400, body: [{ propertyName, errorMessage, severity: 'error' }] }
}

/** Removes a command's fields besides its name, which their descriptions leave out. */
export function toDescribedCommand(path: string, json: unknown): unknown {
  if (path !== '/api/v3/command' || typeof json !== 'object' || json === null) return json
  return { name: (json as { name?: unknown }).name }
}

/** Checks the fields that both programs check before an addition, and that the descriptions leave open. */
export function findMissing(json: unknown, folders: readonly string[]): LabAnswer | undefined {
  const given = (json ?? {}) as Record<string, unknown>
  if (!PROFILES.some(({ id }) => id === given['qualityProfileId'])) {
    return refusal('QualityProfileId', 'Quality profile does not exist')
  }
  if (!folders.includes(String(given['rootFolderPath']))) {
    return refusal('RootFolderPath', 'Root folder path is invalid')
  }
  for (const name of ['title', 'titleSlug', 'images', 'monitored', 'addOptions']) {
    if (given[name] === undefined) return refusal(name, `'${name}' must not be empty`)
  }
  return undefined
}

/**
 * Tells whether the queue's page lists an entry; one without a known film or series is listed only on
 * request.
 */
export function isListed(url: URL, of: number | undefined, kind: 'Movie' | 'Series'): boolean {
  return of !== undefined || url.searchParams.get(`includeUnknown${kind}Items`) === 'true'
}

export interface ArrState {
  folders: { id: number; path: string; accessible: boolean; freeSpace: number; unmappedFolders: [] }[]
  queue: QueueEntry[]
  history: HistoryRecord[]
  health: {
    id: number
    source: string
    type: 'ok' | 'notice' | 'warning' | 'error'
    message: string
    wikiUrl: string
  }[]
  indexers: {
    id: number
    name: string
    enableRss: boolean
    enableAutomaticSearch: boolean
    enableInteractiveSearch: boolean
  }[]
  /** The commands that it received. */
  commands: { name: string; movieIds?: number[]; episodeIds?: number[] }[]
}

/** Creates a state with empty queues, two root folders and one indexer. */
export function toArrState(folder: string): ArrState {
  return {
    folders: [
      {
        id: 1,
        path: `/mnt/small/${folder}`,
        accessible: true,
        freeSpace: 50_000_000_000,
        unmappedFolders: [],
      },
      {
        id: 2,
        path: `/mnt/large/${folder}`,
        accessible: true,
        freeSpace: 4_000_000_000_000,
        unmappedFolders: [],
      },
    ],
    queue: [],
    history: [],
    health: [],
    indexers: [
      {
        id: 1,
        name: 'Lab Indexer',
        enableRss: true,
        enableAutomaticSearch: true,
        enableInteractiveSearch: true,
      },
    ],
    commands: [],
  }
}

/** Returns the routes of both programs. */
export function commonRoutes(state: ArrState, { title, version }: { title: string; version: string }) {
  return {
    'GET /login': () => ({ body: `<title>Login - ${title}</title>` }),
    'GET /api/v3/system/status': () => ({ body: { appName: 'Lab', version, isProduction: true } }),
    'GET /api/v3/qualityprofile': () => ({ body: PROFILES }),
    'GET /api/v3/rootfolder': () => ({ body: state.folders }),
    'GET /api/v3/health': () => ({ body: state.health }),
    'GET /api/v3/indexer': () => ({ body: state.indexers }),
    'POST /api/v3/command': ({ json }: { json: unknown }) => {
      const command = json as ArrState['commands'][number]
      state.commands.push(command)
      return {
        status: 201,
        body: { id: state.commands.length, name: command.name, commandName: command.name, status: 'queued' },
      }
    },
  }
}
