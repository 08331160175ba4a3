import type { LabAnswer, LabRequest } from './http.ts'

/* What the lab's Radarr and Sonarr have in common. */

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

/** A download that goes well, changed as a test wants it. */
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

/** Radarr and Sonarr take the key in this header. */
export function refuseWithout(key: string) {
  return ({ headers }: LabRequest): LabAnswer | undefined =>
    headers['x-api-key'] === key ? undefined : { status: 401, body: { error: 'Unauthorized' } }
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

/** The form in which they refuse what does not fit. */
export function refusal(propertyName: string, errorMessage: string): LabAnswer {
  return { status: 400, body: [{ propertyName, errorMessage, severity: 'error' }] }
}

/** Their descriptions leave out what each command takes besides its name. */
export function toDescribedCommand(path: string, json: unknown): unknown {
  if (path !== '/api/v3/command' || typeof json !== 'object' || json === null) return json
  return { name: (json as { name?: unknown }).name }
}

/** The fields that both check before they add: what the descriptions leave open. */
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

/** Whether the queue's page lists an entry: one that it knows no film or series of only on demand. */
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
  /** What it was told to do. */
  commands: { name: string; movieIds?: number[]; episodeIds?: number[] }[]
}

/** Empty queues, two root folders, one indexer. */
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

/** The routes that both have. */
export function commonRoutes(state: ArrState, version: string) {
  return {
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
