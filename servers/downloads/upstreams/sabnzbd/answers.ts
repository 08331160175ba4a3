import { z } from 'zod'
import type { Download, DownloadState, Finished, Snapshot } from '../download-client.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30
const KIB = 2 ** 10

/** SABnzbd writes most numbers as strings, and "" for none. */
const amount = z.union([z.number(), z.string()]).transform(value => Number(value) || 0)
const text = z
  .union([z.string(), z.number(), z.null()])
  .optional()
  .transform(value => String(value ?? ''))

/** The error that SABnzbd answers with status 200. */
export const refusal = z.object({ status: z.literal(false), error: z.string() })

const slot = z.object({
  nzo_id: z.string(),
  filename: text,
  status: z.string(),
  mb: amount,
  mbleft: amount,
  timeleft: text,
  cat: text,
  priority: text,
})

/** The answer of `mode=queue`. */
export const queueAnswer = z.object({
  queue: z.object({
    version: text,
    status: z.string(),
    paused: z.boolean(),
    pause_int: text,
    kbpersec: amount,
    mbleft: amount,
    speedlimit_abs: amount,
    diskspace1: amount.optional(),
    diskspace2: amount.optional(),
    slots: z.array(slot),
  }),
})
export type Queue = z.output<typeof queueAnswer>['queue']

/** The answer of `mode=history`. */
export const historyAnswer = z.object({
  history: z.object({
    slots: z.array(
      z.object({
        nzo_id: z.string(),
        name: text,
        status: z.string(),
        bytes: amount,
        downloaded: amount.optional(),
        completed: amount,
        /** True while SABnzbd still works on the job, whatever `status` says. */
        loaded: z.boolean().optional(),
        category: text,
        fail_message: text,
      }),
    ),
  }),
})
export type History = z.output<typeof historyAnswer>['history']

/** The answer to a change of jobs: its success, and the jobs' ids. */
export const changeAnswer = z.object({
  status: z.boolean().optional(),
  nzo_ids: z.array(z.string()).nullish(),
  position: z.number().optional(),
  error: z.string().optional(),
})

const DONE = ['Completed', 'Failed']

/**
 * Converts the queue, the jobs in post-processing and the history to a snapshot. `now` is unix milliseconds.
 */
export function toSnapshot(queue: Queue, history: History, now: number): Snapshot {
  const spaces = [queue.diskspace1, queue.diskspace2].filter(space => space !== undefined)
  const rest = queue.paused ? toSeconds(queue.pause_int) : 0
  const ended = history.slots.filter(({ status, loaded }) => DONE.includes(status) && loaded !== true)
  // For a moment SABnzbd lists a job twice: as working, under another time, and as ended.
  const ids = new Set(ended.map(slot => slot.nzo_id))
  const working = history.slots.filter(slot => !ids.has(slot.nzo_id))
  return {
    paused: queue.paused,
    resumesAt: rest > 0 ? now + rest * 1000 : undefined,
    speed: Math.round(queue.kbpersec * KIB),
    limit: queue.speedlimit_abs > 0 ? queue.speedlimit_abs : undefined,
    free: spaces.length > 0 ? Math.round(Math.min(...spaces) * GIB) : undefined,
    needed: Math.round(queue.mbleft * MIB),
    downloads: [...working.map(toProcessing), ...toDownloads(queue)],
    finished: ended.map(toFinished),
  }
}

function toDownloads(queue: Queue): Download[] {
  const active = queue.slots.findIndex(({ status }) => status === 'Downloading')
  return queue.slots.map((one, index) => {
    const isActive = index === active && !queue.paused
    const eta = toSeconds(one.timeleft)
    return {
      id: one.nzo_id,
      name: one.filename,
      ...toState(one.status, isActive, queue.status === 'Idle'),
      size: Math.round(one.mb * MIB),
      left: Math.round(one.mbleft * MIB),
      speed: isActive ? Math.round(queue.kbpersec * KIB) : 0,
      eta: eta > 0 ? eta : undefined,
      category: toCategory(one.cat),
      // SABnzbd reports a number here while it still fetches the file.
      priority: /^[a-z]+$/i.test(one.priority) ? one.priority.toLowerCase() : undefined,
    }
  })
}

const STATES: Readonly<Record<string, DownloadState>> = {
  Paused: 'paused',
  Grabbing: 'fetching',
  Fetching: 'downloading',
  Checking: 'checking',
}

/**
 * Decides the state. SABnzbd reports "Downloading" for every job, but loads only the first, and not even that
 * one while no news server delivers.
 */
function toState(
  status: string,
  isActive: boolean,
  isIdle: boolean,
): { state: DownloadState; reason?: string } {
  if (status === 'Propagating') return { state: 'queued', reason: 'it waits until the post has spread' }
  if (!isActive) return { state: STATES[status] ?? 'queued' }
  return isIdle
    ? { state: 'stalled', reason: 'nothing comes from the news servers' }
    : { state: 'downloading' }
}

function toProcessing(slot: History['slots'][number]): Download {
  return {
    id: slot.nzo_id,
    name: slot.name,
    state: 'processing',
    size: slot.bytes,
    left: 0,
    category: toCategory(slot.category),
    reason: slot.status.toLowerCase(),
  }
}

function toFinished(slot: History['slots'][number]): Finished {
  const failed = slot.status === 'Failed'
  return {
    id: slot.nzo_id,
    name: slot.name,
    outcome: failed ? 'failed' : 'completed',
    size: slot.bytes,
    key: `${slot.nzo_id}:${slot.completed}`,
    recoverable: false,
    at: slot.completed > 0 ? slot.completed * 1000 : undefined,
    category: toCategory(slot.category),
    ...(failed
      ? { reason: slot.fail_message || 'SABnzbd does not say why', deletable: slot.downloaded }
      : {}),
  }
}

function toCategory(category: string): string | undefined {
  return category === '' || category === '*' || category === 'None' ? undefined : category
}

/** Converts "0:14:59", "14:59" or "1:02:03:04" (days first) to seconds. */
export function toSeconds(time: string): number {
  const units = [1, 60, 3600, 86_400]
  const parts = time.split(':').reverse().map(Number)
  const seconds = parts.reduce((sum, part, index) => sum + part * (units[index] ?? 0), 0)
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0
}
