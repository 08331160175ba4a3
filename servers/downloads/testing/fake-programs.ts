import {
  type FaultyUpstream,
  ok,
  type Seen,
  startFaultyUpstream,
  status,
} from '../../kit/testing/faulty-upstream.ts'
import type { ClientKind } from '../download.ts'

const GIB = 2 ** 30
export const HASH = 'a'.repeat(40)
const DONE_HASH = 'b'.repeat(40)

/** A fake of one program over real HTTP: one download that loads, one that completed, one that failed where it can. */
export interface FakeProgram {
  kind: ClientKind
  upstream: FaultyUpstream
  environment: Record<string, string>
  /** What was asked besides reading and logging in: "POST /path name=value …". */
  changes(): string[]
}

export function startFakeProgram(kind: ClientKind): Promise<FakeProgram> {
  switch (kind) {
    case 'sabnzbd':
      return startSabnzbd()
    case 'qbittorrent':
      return startQbittorrent()
    case 'transmission':
      return startTransmission()
    default:
      return kind satisfies never
  }
}

const sabnzbdSlot = (id: string, filename: string, more = {}) => ({
  nzo_id: id,
  filename,
  status: 'Downloading',
  mb: '2048.00',
  mbleft: '1024.00',
  timeleft: '0:08:32',
  cat: 'tv',
  priority: 'Normal',
  ...more,
})

/** What SABnzbd 3.7 answers; numbers are texts. */
const SABNZBD: Record<string, unknown> = {
  queue: {
    queue: {
      version: '3.7.1',
      status: 'Downloading',
      paused: false,
      pause_int: '0',
      kbpersec: '2048.00',
      mbleft: '1024.00',
      speedlimit_abs: '4194304',
      diskspace1: '120.00',
      diskspace2: '100.00',
      slots: [sabnzbdSlot('SABnzbd_nzo_1', 'Lab.Show.S01E01')],
    },
  },
  history: {
    history: {
      slots: [
        {
          nzo_id: 'SABnzbd_nzo_2',
          name: 'Lab.Film.2026',
          status: 'Completed',
          bytes: 3 * GIB,
          completed: 1_795_000_000,
          category: 'movies',
          fail_message: '',
        },
        {
          nzo_id: 'SABnzbd_nzo_3',
          name: 'Lab.Broken',
          status: 'Failed',
          bytes: GIB,
          downloaded: GIB / 2,
          completed: 1_794_990_000,
          category: '*',
          fail_message: 'Aborted, cannot be completed\u0007',
        },
      ],
    },
  },
}

async function startSabnzbd(): Promise<FakeProgram> {
  const upstream = await startFaultyUpstream({
    'POST /api': seen => {
      const fields = toFields(seen)
      if (fields.get('apikey') !== 'the-key') return status(403, 'API Key Incorrect')
      const mode = fields.get('mode') ?? ''
      if (fields.get('name') === null && SABNZBD[mode]) return ok(SABNZBD[mode])
      if (mode === 'switch') return ok({ result: { position: 0, priority: 0 } })
      if (fields.get('name') === 'priority') return ok({ position: 0 })
      return ok({ status: true, nzo_ids: ['SABnzbd_nzo_9'] })
    },
  })
  const isRead = (seen: Seen) =>
    ['queue', 'history'].includes(toFields(seen).get('mode') ?? '') && !toFields(seen).has('name')
  return {
    kind: 'sabnzbd',
    upstream,
    environment: { SABNZBD_URL: upstream.url, SABNZBD_API_KEY: 'the-key' },
    changes: () => upstream.requests.filter(seen => !isRead(seen)).map(toLine),
  }
}

const qbittorrentTorrent = (name: string, more = {}) => ({
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

async function startQbittorrent(): Promise<FakeProgram> {
  const torrents = {
    [HASH]: qbittorrentTorrent('Lab.Show.S01E01'),
    [DONE_HASH]: qbittorrentTorrent('Lab.Film.2026', {
      state: 'stalledUP',
      size: 3 * GIB,
      amount_left: 0,
      completion_on: 1_795_000_000,
    }),
    ['c'.repeat(40)]: qbittorrentTorrent('Lab.Broken', { state: 'error', size: GIB, amount_left: GIB / 2 }),
  }
  const server = { dl_info_speed: 2_097_152, dl_rate_limit: 4_194_304, free_space_on_disk: 100 * GIB }
  const isIn = (seen: Seen) => seen.headers['cookie'] === 'SID=s1'
  const guarded = (answer: ReturnType<typeof ok>) => (seen: Seen) => (isIn(seen) ? answer : status(403, ''))
  const upstream = await startFaultyUpstream({
    'POST /api/v2/auth/login': seen =>
      toFields(seen).get('password') === 'pass-word'
        ? status(200, 'Ok.', { 'set-cookie': 'SID=s1; HttpOnly; path=/' })
        : status(200, 'Fails.'),
    'GET /api/v2/app/version': guarded(status(200, 'v5.1.0')),
    'GET /api/v2/sync/maindata': guarded(ok({ torrents, server_state: server })),
    'GET /api/v2/log/main': guarded(ok([{ message: 'Lab.Broken: No space left on device' }])),
    ...Object.fromEntries(
      ['stop', 'start', 'delete', 'topPrio', 'bottomPrio', 'add'].map(word => [
        `POST /api/v2/torrents/${word}`,
        guarded(status(200, 'Ok.')),
      ]),
    ),
    'POST /api/v2/transfer/setDownloadLimit': guarded(status(200, '')),
  })
  const environment = {
    QBITTORRENT_URL: upstream.url,
    QBITTORRENT_USERNAME: 'admin',
    QBITTORRENT_PASSWORD: 'pass-word',
  }
  return {
    kind: 'qbittorrent',
    upstream,
    environment,
    changes: () =>
      upstream.requests.filter(seen => seen.method === 'POST' && !seen.path.endsWith('/login')).map(toLine),
  }
}

const transmissionTorrent = (hashString: string, name: string, more = {}) => ({
  id: 1,
  hashString,
  name,
  status: 4,
  sizeWhenDone: 2 * GIB,
  leftUntilDone: GIB,
  metadataPercentComplete: 1,
  rateDownload: 2_097_152,
  eta: 512,
  error: 0,
  errorString: '',
  doneDate: 0,
  addedDate: 1_794_000_000,
  labels: ['tv'],
  bandwidthPriority: 0,
  queuePosition: 0,
  isStalled: false,
  ...more,
})

const TRANSMISSION: Record<string, unknown> = {
  'session-get': {
    version: '3.00 (bb6b5a062e)',
    'speed-limit-down': 4194,
    'speed-limit-down-enabled': true,
    'download-dir-free-space': 100 * GIB,
    units: { 'speed-bytes': 1000 },
  },
  'torrent-get': {
    torrents: [
      transmissionTorrent(HASH, 'Lab.Show.S01E01'),
      transmissionTorrent(DONE_HASH, 'Lab.Film.2026', {
        status: 6,
        sizeWhenDone: 3 * GIB,
        leftUntilDone: 0,
        doneDate: 1_795_000_000,
        rateDownload: 0,
      }),
      transmissionTorrent('c'.repeat(40), 'Lab.Broken', {
        status: 0,
        sizeWhenDone: GIB,
        leftUntilDone: GIB / 2,
        rateDownload: 0,
        error: 3,
        errorString: 'No space left on device',
      }),
    ],
  },
  'torrent-add': { 'torrent-added': { hashString: HASH, name: 'Lab.New' } },
}

async function startTransmission(): Promise<FakeProgram> {
  const basic = `Basic ${Buffer.from('lab:pass-word').toString('base64')}`
  const upstream = await startFaultyUpstream({
    'POST /transmission/rpc': seen => {
      if (seen.headers.authorization !== basic) return status(401, '<h1>401: Unauthorized</h1>')
      if (seen.headers['x-transmission-session-id'] !== 's1') {
        return status(409, '<h1>409: Conflict</h1>', { 'x-transmission-session-id': 's1' })
      }
      const { method } = JSON.parse(seen.body) as { method: string }
      return ok({ result: 'success', arguments: TRANSMISSION[method] ?? {} })
    },
  })
  const isChange = (seen: Seen) =>
    seen.headers['x-transmission-session-id'] === 's1' && !/"(torrent|session)-(get|stats)"/.test(seen.body)
  return {
    kind: 'transmission',
    upstream,
    environment: {
      TRANSMISSION_URL: upstream.url,
      TRANSMISSION_USERNAME: 'lab',
      TRANSMISSION_PASSWORD: 'pass-word',
    },
    changes: () => upstream.requests.filter(isChange).map(({ body }) => body),
  }
}

/** The fields of a form, or of the parts of a multipart body that are no files. */
function toFields({ headers, body }: Seen): URLSearchParams {
  const type = headers['content-type'] ?? ''
  if (!type.startsWith('multipart/')) return new URLSearchParams(body)
  const parts = [...body.matchAll(/name="(\w+)"\r\n\r\n([^\r]*)\r\n/g)]
  return new URLSearchParams(parts.map(([, name = '', value = '']): [string, string] => [name, value]))
}

function toLine(seen: Seen): string {
  const fields = [...toFields(seen)].filter(([name]) => !['apikey', 'output'].includes(name))
  const file = /filename="([^"]*)"/.exec(seen.body)?.[1]
  const parts = [...fields.map(([name, value]) => `${name}=${value}`), ...(file ? [`file=${file}`] : [])]
  return `${seen.path} ${parts.join(' ')}`.trim()
}
