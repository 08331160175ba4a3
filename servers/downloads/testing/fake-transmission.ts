import { ok, type Seen, startFaultyUpstream, status } from '../../kit/testing/faulty-upstream.ts'
import { BROKEN_HASH, createShown, DONE_HASH, GIB, HASH } from './fake-parts.ts'
import type { FakeProgram } from './fake-programs.ts'

const toTorrent = (hashString: string, name: string, more = {}) => ({
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

function createState() {
  return {
    session: {
      version: '3.00 (bb6b5a062e)',
      'speed-limit-down': 4194,
      'speed-limit-down-enabled': true,
      'download-dir-free-space': 100 * GIB,
      units: { 'speed-bytes': 1000 },
    },
    torrents: [
      toTorrent(HASH, 'Lab.Show.S01E01'),
      toTorrent(DONE_HASH, 'Lab.Film.2026', {
        status: 6,
        sizeWhenDone: 3 * GIB,
        leftUntilDone: 0,
        doneDate: 1_795_000_000,
        rateDownload: 0,
      }),
      toTorrent(BROKEN_HASH, 'Lab.Broken', {
        status: 0,
        sizeWhenDone: GIB,
        leftUntilDone: GIB / 2,
        rateDownload: 0,
        error: 3,
        errorString: 'No space left on device',
      }),
    ],
  }
}
type State = ReturnType<typeof createState>

interface Call {
  method: string
  arguments?: { ids?: string[]; filename?: string; labels?: string[]; bandwidthPriority?: number }
}

export async function startFakeTransmission(): Promise<FakeProgram> {
  const basic = `Basic ${Buffer.from('lab:pass-word').toString('base64')}`
  const state = createState()
  const shown = createShown(state)
  let drops = false
  const upstream = await startFaultyUpstream({
    'POST /transmission/rpc': seen => {
      if (seen.headers.authorization !== basic) return status(401, '<h1>401: Unauthorized</h1>')
      if (seen.headers['x-transmission-session-id'] !== 's1') {
        return status(409, '<h1>409: Conflict</h1>', { 'x-transmission-session-id': 's1' })
      }
      const call = JSON.parse(seen.body) as Call
      if (call.method === 'session-get') return toAnswer(shown.read().session)
      if (call.method === 'torrent-get') return toAnswer({ torrents: shown.read().torrents })
      if (call.method === 'torrent-start' && drops) {
        drops = false
        return toAnswer({})
      }
      const result = change(state, call)
      shown.changed()
      return toAnswer(result)
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
    state: () => structuredClone(state),
    lag: shown.lag,
    dropNextStart() {
      drops = true
    },
  }
}

const toAnswer = (result: unknown) => ok({ result: 'success', arguments: result })

function change(state: State, { method, arguments: given = {} }: Call): unknown {
  const { torrents, session } = state
  const named = torrents.filter(({ hashString }) => given.ids?.includes(hashString))
  if (method === 'torrent-add') return add(state, given.filename ?? '')
  if (method === 'session-set') Object.assign(session, given)
  if (method === 'torrent-stop') for (const one of named) one.status = 0
  if (method === 'torrent-start') for (const one of named) one.status = 4
  if (method === 'torrent-remove') state.torrents = torrents.filter(one => !named.includes(one))
  if (method === 'torrent-set') {
    for (const one of named) one.bandwidthPriority = given.bandwidthPriority ?? one.bandwidthPriority
  }
  return {}
}

function add({ torrents }: State, filename: string): unknown {
  const hashString = /btih:(\w{40})/.exec(filename)?.[1] ?? 'e'.repeat(40)
  const had = torrents.find(one => one.hashString === hashString)
  if (had) return { 'torrent-duplicate': { hashString, name: had.name } }
  torrents.push(toTorrent(hashString, 'Lab.New', { metadataPercentComplete: 0, queuePosition: 1 }))
  return { 'torrent-added': { hashString, name: 'Lab.New' } }
}
