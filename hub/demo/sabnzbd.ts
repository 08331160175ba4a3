import { systemClock } from '../core/clock.ts'
import { type LabAnswer, type LabServer, startLab } from './http.ts'

export const SABNZBD_KEY = '0123456789abcdef0123456789abcdef'

const MIB_PER_SECOND = 40
const MINUTE = 60_000

interface Job {
  id: string
  name: string
  /** Mebibytes. */
  size: number
  left: number
  isPaused: boolean
}

export interface Sabnzbd extends LabServer {
  readonly paused: boolean
  readonly jobs: readonly Job[]
}

/**
 * Starts a SABnzbd that downloads at a steady rate, one job after the other, by `now` (unix milliseconds).
 */
export async function startSabnzbd(
  names: Readonly<Record<string, number>>,
  now: () => number = systemClock.now,
): Promise<Sabnzbd> {
  const state = createQueue(names, now)
  const lab = await startLab(({ url, body }) => {
    const form = new URLSearchParams(body || url.search)
    if (form.get('mode') !== 'version' && form.get('apikey') !== SABNZBD_KEY)
      return { status: 403, body: 'API Key Incorrect' }
    return state.answer(form)
  })
  return {
    ...lab,
    get paused() {
      return state.paused()
    },
    get jobs() {
      return state.jobs
    },
  }
}

function createQueue(names: Readonly<Record<string, number>>, now: () => number) {
  const jobs: Job[] = []
  const history: (Job & { at: number })[] = []
  let pausedUntil = 0
  let seen = now()
  let count = 0
  const add = (name: string, size: number) => {
    const id = `SABnzbd_nzo_lab${++count}`
    jobs.push({ id, name, size, left: size, isPaused: false })
    return id
  }
  for (const [name, size] of Object.entries(names)) add(name, size)
  const paused = () => now() < pausedUntil
  const goOn = () => {
    const seconds = (now() - seen) / 1000
    seen = now()
    const active = paused() ? undefined : jobs.find(job => !job.isPaused)
    if (!active) return
    active.left = Math.max(0, active.left - seconds * MIB_PER_SECOND)
    if (active.left > 0) return
    jobs.splice(jobs.indexOf(active), 1)
    history.unshift({ ...active, at: now() })
  }
  const change = (value: string, run: (job: Job) => void): LabAnswer => {
    const job = jobs.find(({ id }) => id === value)
    if (job) run(job)
    return { body: { status: job !== undefined, nzo_ids: job ? [job.id] : [] } }
  }
  const modes: Record<string, (form: URLSearchParams) => LabAnswer> = {
    version: () => ({ body: { version: '4.5.0' } }),
    queue(form) {
      const value = form.get('value') ?? ''
      if (form.get('name') === 'pause') return change(value, job => Object.assign(job, { isPaused: true }))
      if (form.get('name') === 'resume') return change(value, job => Object.assign(job, { isPaused: false }))
      if (form.get('name') === 'delete') return change(value, job => jobs.splice(jobs.indexOf(job), 1))
      return { body: { queue: toQueue(jobs, paused() ? pausedUntil - now() : undefined) } }
    },
    history: () => ({ body: { history: { slots: history.map(toHistorySlot) } } }),
    pause() {
      pausedUntil = Number.POSITIVE_INFINITY
      return { body: { status: true } }
    },
    resume() {
      pausedUntil = 0
      return { body: { status: true } }
    },
    config(form) {
      if (form.get('name') === 'set_pause') pausedUntil = now() + Number(form.get('value')) * MINUTE
      return { body: { status: true } }
    },
    addurl: form => ({ body: { status: true, nzo_ids: [add(form.get('name') ?? 'unnamed', 700)] } }),
  }
  return {
    jobs,
    paused,
    answer(form: URLSearchParams): LabAnswer {
      goOn()
      const mode = modes[form.get('mode') ?? '']
      return mode ? mode(form) : { body: { status: false, error: 'not implemented' } }
    },
  }
}

function toQueue(jobs: readonly Job[], pause: number | undefined) {
  const left = jobs.reduce((sum, job) => sum + job.left, 0)
  const isActive = pause === undefined && jobs.some(job => !job.isPaused)
  const speed = isActive ? MIB_PER_SECOND : 0
  return {
    version: '4.5.0',
    paused: pause !== undefined,
    pause_int: pause === undefined || pause === Number.POSITIVE_INFINITY ? '0' : toClock(pause / 1000),
    status: pause === undefined ? (isActive ? 'Downloading' : 'Idle') : 'Paused',
    kbpersec: (speed * 1024).toFixed(2),
    speed: `${speed} M`,
    speedlimit_abs: '',
    mb: left.toFixed(2),
    mbleft: left.toFixed(2),
    diskspace1: '812.40',
    diskspace2: '812.40',
    noofslots: jobs.length,
    slots: jobs.map(job => ({
      nzo_id: job.id,
      filename: job.name,
      status: job.isPaused ? 'Paused' : 'Downloading',
      mb: job.size.toFixed(2),
      mbleft: job.left.toFixed(2),
      timeleft: speed > 0 ? toClock(job.left / speed) : '0:00:00',
      cat: 'tv',
      priority: 'Normal',
    })),
  }
}

function toHistorySlot({ id, name, size, at }: Job & { at: number }) {
  return {
    nzo_id: id,
    name,
    status: 'Completed',
    bytes: Math.round(size * 2 ** 20),
    completed: Math.floor(at / 1000),
    category: 'tv',
    fail_message: '',
  }
}

function toClock(seconds: number): string {
  const whole = Math.round(seconds)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${Math.floor(whole / 3600)}:${two(Math.floor((whole % 3600) / 60))}:${two(whole % 60)}`
}
