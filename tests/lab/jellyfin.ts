import { type CheckedLab, type CheckedOptions, type Routes, startChecked } from './checked.ts'

const KEY = 'lab0jellyfin0key0123456789abcdef'
const SERVER_ID = '0123456789abcdef0123456789abcdef'
const MINUTE = 600_000_000

export interface LabItem {
  Id: string
  Name: string
  Type: 'Movie' | 'Series' | 'Episode' | 'MusicAlbum'
  ProductionYear?: number
  DateCreated: string
  Path: string
  SeriesId?: string
  SeriesName?: string
  ParentIndexNumber?: number
  IndexNumber?: number
  RunTimeTicks?: number
  ProviderIds?: Record<string, string>
}

export interface LabSession {
  Id: string
  UserName: string
  DeviceName: string
  Client: string
  item?: LabItem
  PositionTicks?: number
  IsPaused?: boolean
  PlayMethod?: 'Transcode' | 'DirectStream' | 'DirectPlay'
  TranscodingInfo?: Record<string, unknown>
  /** Commands that the session's app accepts. */
  commands?: string[]
}

export interface Jellyfin extends CheckedLab {
  readonly apiKey: string
  readonly state: {
    items: LabItem[]
    sessions: LabSession[]
    libraries: {
      Name: string
      ItemId: string
      CollectionType: string
      Locations: string[]
      RefreshStatus: string
      RefreshProgress?: number
    }[]
    /** Percent of the scan of all libraries; undefined if none runs. */
    scan: number | undefined
    /** Number of requested scans, of everything or of one library. */
    scans: number
    /** Percent that the scan advances at each read. */
    step: number
    messages: { session: string; text: string }[]
    stopped: string[]
  }
}

export const ARRIVAL: LabItem = {
  Id: '38881160b1c9750a09767324d7642370',
  Name: 'Arrival',
  Type: 'Movie',
  ProductionYear: 2016,
  DateCreated: '2026-11-01T10:00:00.0000000Z',
  Path: '/media/movies/Arrival (2016)/Arrival.mkv',
  RunTimeTicks: 116 * MINUTE,
  ProviderIds: { Tmdb: '329865', Imdb: 'tt2543164' },
}

const SEVERANCE: LabItem = {
  Id: '7b4504793efb3a1b08f4ee6577d96810',
  Name: 'Severance',
  Type: 'Series',
  ProductionYear: 2022,
  DateCreated: '2026-10-01T10:00:00.0000000Z',
  Path: '/media/tv/Severance',
  ProviderIds: { Tvdb: '371980', Tmdb: '95396' },
}

/** Creates an episode of Severance by season and number. */
export function toEpisode(season: number, number: number, added = '2026-10-02T10:00:00.0000000Z'): LabItem {
  return {
    Id: `aaaaaaaaaaaaaaaaaaaaaaaaaaa${season}${String(number).padStart(4, '0')}`,
    Name: `Chapter ${number}`,
    Type: 'Episode',
    SeriesId: SEVERANCE.Id,
    SeriesName: 'Severance',
    ParentIndexNumber: season,
    IndexNumber: number,
    DateCreated: added,
    Path: `/media/tv/Severance/Season ${season}/${number}.mkv`,
    RunTimeTicks: 50 * MINUTE,
  }
}

/** Creates a session that plays Arrival with a converted picture. */
export function toTranscodingSession(change: Partial<LabSession> = {}): LabSession {
  return {
    Id: '507cc4e1d598bb0951c5a8ed96f9bdd1',
    UserName: 'sam',
    DeviceName: 'Living room TV',
    Client: 'Jellyfin Web',
    item: ARRIVAL,
    PositionTicks: 41 * MINUTE,
    PlayMethod: 'Transcode',
    commands: ['DisplayMessage'],
    TranscodingInfo: {
      VideoCodec: 'h264',
      AudioCodec: 'aac',
      Container: 'ts',
      IsVideoDirect: false,
      IsAudioDirect: true,
      Bitrate: 8_400_000,
      Width: 1920,
      Height: 1080,
      HardwareAccelerationType: 'vaapi',
      TranscodeReasons: ['VideoCodecNotSupported', 'ContainerBitrateExceedsLimit'],
    },
    ...change,
  }
}

/** Starts a Jellyfin with a film and three episodes in two libraries, and no sessions. */
export async function startJellyfin(options: CheckedOptions = {}): Promise<Jellyfin> {
  const state: Jellyfin['state'] = {
    items: [ARRIVAL, SEVERANCE, toEpisode(1, 1), toEpisode(1, 2), toEpisode(2, 1)],
    sessions: [],
    libraries: [
      {
        Name: 'Films',
        ItemId: 'f137a2dd21bbc1b99aa5c0f6bf02a801',
        CollectionType: 'movies',
        Locations: ['/media/movies'],
        RefreshStatus: 'Idle',
      },
      {
        Name: 'Series',
        ItemId: 'f137a2dd21bbc1b99aa5c0f6bf02a802',
        CollectionType: 'tvshows',
        Locations: ['/media/tv'],
        RefreshStatus: 'Idle',
      },
    ],
    scan: undefined,
    scans: 0,
    step: 0,
    messages: [],
    stopped: [],
  }
  const lab = await startChecked({
    ...options,
    refuse: ({ headers }) => (isAllowed(headers.authorization) ? undefined : { status: 401, body: '' }),
    routes: toRoutes(state),
  })
  return { ...lab, apiKey: KEY, state }
}

function isAllowed(authorization: string | undefined): boolean {
  const token = /^MediaBrowser .*\bToken="([^"]*)"/.exec(authorization ?? '')?.[1]
  return token !== undefined && decodeURIComponent(token) === KEY
}

function toRoutes(state: Jellyfin['state']): Routes {
  return {
    'GET /System/Info': () => ({
      body: { ServerName: 'lab', Version: '10.11.11', ProductName: 'Jellyfin Server', Id: SERVER_ID },
    }),
    'GET /Sessions': () => ({ body: state.sessions.map(toSession) }),
    'GET /Items': ({ url }) => ({ body: findItems(state, url.searchParams) }),
    'GET /Library/VirtualFolders': () => ({ body: state.libraries }),
    'POST /Library/Refresh': () => {
      state.scans += 1
      state.scan ??= 0
      return { status: 204, body: undefined }
    },
    'POST /Items/:id/Refresh': ({ slots }) => {
      const library = state.libraries.find(({ ItemId }) => ItemId === slots[0])
      if (!library) return { status: 404, body: '' }
      state.scans += 1
      Object.assign(library, { RefreshStatus: 'Active', RefreshProgress: 0 })
      return { status: 204, body: undefined }
    },
    'GET /ScheduledTasks': () => {
      const body = [toScanTask(state.scan)]
      const next = (state.scan ?? 0) + state.step
      if (state.scan !== undefined) state.scan = next < 100 ? next : undefined
      return { body }
    },
    'POST /Sessions/:id/Message': ({ slots, json }) => {
      state.messages.push({ session: slots[0] ?? '', text: (json as { Text: string }).Text })
      return { status: 204, body: undefined }
    },
    'POST /Sessions/:id/Playing/Stop': ({ slots }) => {
      state.stopped.push(slots[0] ?? '')
      for (const session of state.sessions) if (session.Id === slots[0]) delete session.item
      return { status: 204, body: undefined }
    },
  }
}

function toScanTask(scan: number | undefined) {
  const running =
    scan === undefined ? { State: 'Idle' } : { State: 'Running', CurrentProgressPercentage: scan }
  return {
    Name: 'Scan Media Library',
    Id: '7738148ffcd07979c7ceb148e06b3aed',
    Key: 'RefreshLibrary',
    IsHidden: false,
    ...running,
  }
}

function findItems(state: Jellyfin['state'], query: URLSearchParams) {
  const get = (name: string) =>
    [...query]
      .filter(([key]) => key.toLowerCase() === name.toLowerCase())
      .flatMap(([, value]) => value.split(','))
  const types = get('includeItemTypes')
  const words = (get('searchTerm')[0] ?? '').toLowerCase()
  const parent = get('parentId')[0]
  const found = state.items
    .filter(item => types.length === 0 || types.includes(item.Type))
    .filter(item => item.Name.toLowerCase().includes(words))
    .filter(item => parent === undefined || item.SeriesId === parent)
  if (get('sortBy').includes('DateCreated')) found.sort((a, b) => (a.DateCreated < b.DateCreated ? 1 : -1))
  const start = Number(get('startIndex')[0] ?? 0)
  const limit = Number(get('limit')[0] ?? found.length)
  return {
    Items: found.slice(start, start + limit).map(toItem),
    TotalRecordCount: found.length,
    StartIndex: start,
  }
}

function toItem(item: LabItem) {
  return {
    ...item,
    ServerId: SERVER_ID,
    IsFolder: item.Type === 'Series',
    MediaType: item.Type === 'Series' ? 'Unknown' : 'Video',
    LocationType: 'FileSystem',
  }
}

function toSession({
  item,
  commands = [],
  PositionTicks,
  IsPaused = false,
  PlayMethod,
  TranscodingInfo,
  ...session
}: LabSession) {
  const playing = item
    ? {
        NowPlayingItem: {
          ...toItem(item),
          MediaStreams: [{ Type: 'Video', BitRate: 12_000_000, Index: 0, IsInterlaced: false }],
        },
        ...(TranscodingInfo ? { TranscodingInfo } : {}),
      }
    : {}
  return {
    ...session,
    ...playing,
    PlayState: {
      CanSeek: true,
      IsPaused,
      IsMuted: false,
      RepeatMode: 'RepeatNone',
      PlaybackOrder: 'Default',
      ...(PositionTicks === undefined ? {} : { PositionTicks }),
      ...(PlayMethod && item ? { PlayMethod } : {}),
    },
    RemoteEndPoint: '192.0.2.10',
    DeviceId: `device-${session.Id}`,
    UserId: '472c0639eaa641ebadd06d9d5107b730',
    LastActivityDate: '2026-11-22T04:00:00.0000000Z',
    IsActive: true,
    SupportsMediaControl: true,
    SupportsRemoteControl: true,
    SupportedCommands: commands,
    ServerId: SERVER_ID,
  }
}
