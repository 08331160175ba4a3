import { ok, type Seen, startFaultyUpstream, status } from '../../kit/testing/faulty-upstream.ts'
import { createShown, GIB, toFields, toFileName, toLine } from './fake-parts.ts'
import type { FakeProgram } from './fake-programs.ts'

interface Slot {
  nzo_id: string
  filename: string
  status: string
  priority: string
}

const PRIORITIES: Readonly<Record<string, string>> = { '1': 'High', '0': 'Normal', '-1': 'Low' }

/** History answers of SABnzbd 3.7; its numbers are strings. */
const HISTORY = [
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
]

/** Starts a fake SABnzbd. Like the real one, it adds the same NZB file or address at every request. */
export async function startFakeSabnzbd(): Promise<FakeProgram> {
  const state = createState()
  const shown = createShown(state)
  const upstream = await startFaultyUpstream({
    'POST /api': seen => {
      const fields = toFields(seen)
      if (fields.get('apikey') !== 'the-key') return status(403, 'API Key Incorrect')
      const mode = fields.get('mode') ?? ''
      if (isRead(seen)) return ok(mode === 'queue' ? toQueue(shown.read()) : toHistory(shown.read()))
      shown.changed()
      return ok(change(state, seen, fields))
    },
  })
  return {
    kind: 'sabnzbd',
    upstream,
    environment: { SABNZBD_URL: upstream.url, SABNZBD_API_KEY: 'the-key' },
    changes: () => upstream.requests.filter(seen => !isRead(seen)).map(toLine),
    state: () => structuredClone(state),
    lag: shown.lag,
  }
}

function createState() {
  return {
    paused: false,
    pauseMinutes: 0,
    limit: '4194304',
    slots: [
      { nzo_id: 'SABnzbd_nzo_1', filename: 'Lab.Show.S01E01', status: 'Downloading', priority: 'Normal' },
    ] as Slot[],
    history: structuredClone(HISTORY),
    added: 9,
  }
}
type State = ReturnType<typeof createState>

function isRead(seen: Seen): boolean {
  const fields = toFields(seen)
  return ['queue', 'history'].includes(fields.get('mode') ?? '') && !fields.has('name')
}

function toQueue({ paused, pauseMinutes, limit, slots }: State) {
  const figures = { mb: '2048.00', mbleft: '1024.00', timeleft: '0:08:32', cat: 'tv' }
  return {
    queue: {
      version: '3.7.1',
      status: paused ? 'Paused' : 'Downloading',
      paused,
      pause_int: pauseMinutes > 0 ? `${pauseMinutes}:00` : '0',
      kbpersec: '2048.00',
      mbleft: '1024.00',
      speedlimit_abs: limit,
      diskspace1: '120.00',
      diskspace2: '100.00',
      slots: slots.map(slot => ({ ...slot, ...figures })),
    },
  }
}

const toHistory = ({ history }: State) => ({ history: { slots: history } })

function change(state: State, seen: Seen, fields: URLSearchParams): unknown {
  const [mode, name, value = ''] = [fields.get('mode'), fields.get('name'), fields.get('value') ?? '']
  const slot = state.slots.find(({ nzo_id }) => nzo_id === value)
  const kind = mode === 'queue' || mode === 'config' || mode === 'history' ? `${mode} ${name}` : mode
  switch (kind) {
    case 'pause':
    case 'resume':
      Object.assign(state, { paused: mode === 'pause', pauseMinutes: 0 })
      return { status: true }
    case 'config set_pause':
      Object.assign(state, { paused: true, pauseMinutes: Number(value) })
      return { status: true }
    case 'config speedlimit':
      state.limit = value === '0' ? '' : value
      return { status: true }
    case 'addfile':
    case 'addurl':
      return add(state, toFileName(seen)?.replace(/\.nzb$/, '') ?? `Trying to fetch NZB from ${name}`)
    case 'history delete':
      state.history = state.history.filter(({ nzo_id }) => nzo_id !== value)
      return { status: true }
    default:
      return slot ? changeSlot(state, slot, kind ?? '', fields) : { status: false, nzo_ids: [] }
  }
}

function changeSlot(state: State, slot: Slot, kind: string, fields: URLSearchParams): unknown {
  const others = state.slots.filter(other => other !== slot)
  if (kind === 'queue delete') state.slots = others
  if (kind === 'switch') state.slots = [slot, ...others]
  if (kind === 'queue pause') slot.status = 'Paused'
  if (kind === 'queue resume') slot.status = 'Downloading'
  if (kind === 'queue priority') slot.priority = PRIORITIES[fields.get('value2') ?? ''] ?? 'Normal'
  if (kind === 'switch') return { result: { position: 0, priority: 0 } }
  return { status: true, nzo_ids: [slot.nzo_id], position: 0 }
}

function add(state: State, filename: string): unknown {
  const nzo_id = `SABnzbd_nzo_${state.added++}`
  state.slots.push({ nzo_id, filename, status: 'Queued', priority: 'Normal' })
  return { status: true, nzo_ids: [nzo_id] }
}
