import { type Answer, ok, type Seen, startFaultyUpstream, status } from '../../kit/testing/faulty-upstream.ts'
import { BROKEN_HASH, createShown, DONE_HASH, GIB, HASH, toFields, toLine } from './fake-parts.ts'
import type { FakeProgram } from './fake-programs.ts'

const toTorrent = (name: string, more = {}) => ({
  name,
  state: 'downloading',
  size: 2 * GIB,
  amount_left: GIB,
  dlspeed: 2_097_152,
  eta: 512,
  category: 'tv',
  priority: 1,
  added_on: 1_794_000_000,
  completion_on: -1,
  ...more,
})
type Torrent = ReturnType<typeof toTorrent>

function createState() {
  const torrents: Record<string, Torrent> = {
    [HASH]: toTorrent('Lab.Show.S01E01'),
    [DONE_HASH]: toTorrent('Lab.Film.2026', {
      state: 'stalledUP',
      size: 3 * GIB,
      amount_left: 0,
      priority: 0,
      completion_on: 1_795_000_000,
    }),
    [BROKEN_HASH]: toTorrent('Lab.Broken', {
      state: 'error',
      size: GIB,
      amount_left: GIB / 2,
      priority: 0,
    }),
  }
  return { torrents, limit: 4_194_304 }
}
type State = ReturnType<typeof createState>

/** Starts a fake qBittorrent 5, which shows a change up to two seconds late. */
export async function startFakeQbittorrent(): Promise<FakeProgram> {
  const state = createState()
  const shown = createShown(state)
  const guarded = (answer: (seen: Seen) => Answer) => (seen: Seen) =>
    seen.headers['cookie'] === 'SID=s1' ? answer(seen) : status(403, '')
  const changing = (word: string) => [
    `POST /api/v2/${word}`,
    guarded(seen => {
      change(state, word, toFields(seen))
      shown.changed()
      return status(200, 'Ok.')
    }),
  ]
  const words = ['stop', 'start', 'delete', 'topPrio', 'bottomPrio', 'add'].map(word => `torrents/${word}`)
  const upstream = await startFaultyUpstream({
    'POST /api/v2/auth/login': seen =>
      toFields(seen).get('password') === 'pass-word'
        ? status(200, 'Ok.', { 'set-cookie': 'SID=s1; HttpOnly; path=/' })
        : status(200, 'Fails.'),
    'GET /api/v2/app/version': guarded(() => status(200, 'v5.1.0')),
    'GET /api/v2/sync/maindata': guarded(() => ok(toMaindata(shown.read()))),
    'GET /api/v2/log/main': guarded(() => ok([{ message: 'Lab.Broken: No space left on device' }])),
    ...Object.fromEntries([...words, 'transfer/setDownloadLimit'].map(changing)),
  })
  return {
    kind: 'qbittorrent',
    upstream,
    environment: {
      QBITTORRENT_URL: upstream.url,
      QBITTORRENT_USERNAME: 'admin',
      QBITTORRENT_PASSWORD: 'pass-word',
    },
    changes: () =>
      upstream.requests.filter(seen => seen.method === 'POST' && !seen.path.endsWith('/login')).map(toLine),
    state: () => structuredClone(state),
    lag: shown.lag,
  }
}

function toMaindata({ torrents, limit }: State) {
  const server_state = {
    dl_info_speed: 2_097_152,
    dl_rate_limit: limit,
    free_space_on_disk: 100 * GIB,
  }
  return { torrents, server_state }
}

function change(state: State, word: string, fields: URLSearchParams): void {
  const { torrents } = state
  if (word === 'transfer/setDownloadLimit') state.limit = Number(fields.get('limit'))
  if (word === 'torrents/add') {
    const id = /btih:(\w{40})/.exec(fields.get('urls') ?? '')?.[1]
    if (id) torrents[id] ??= toTorrent('Lab.New', { state: 'metaDL', priority: 2 })
  }
  for (const id of (fields.get('hashes') ?? '').split('|')) {
    const torrent = torrents[id]
    if (!torrent) continue
    if (word === 'torrents/stop') torrent.state = 'stoppedDL'
    if (word === 'torrents/start') torrent.state = 'downloading'
    if (word === 'torrents/delete') delete torrents[id]
    if (word === 'torrents/topPrio') torrent.priority = 1
  }
}
