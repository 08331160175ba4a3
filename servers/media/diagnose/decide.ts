import { toFacts } from '../../kit/render.ts'
import { toAgeText, toCountText, toTimeText } from '../../kit/text.ts'
import type { QueueState } from '../upstreams/arr/queue.ts'
import { type RequestState, toRequestWords } from '../upstreams/seerr/states.ts'

/** An upstream's answer, or the reason why it is unknown. */
export type Known<Value> = { known: true; value: Value } | { known: false; why: string }

/**
 * Radarr's or Sonarr's facts about a film or series; those of a series count only monitored episodes that
 * have aired.
 */
export interface ManagedFacts {
  /** The instance's name: "Radarr (4k)". */
  program: string
  isSeries: boolean
  monitored: boolean
  /** True if it is released far enough to be searched for. */
  released: boolean
  /** Unix milliseconds of the next release or airing. */
  releaseAt: number | undefined
  /** Number of existing files, out of `wanted`. */
  files: number
  wanted: number
  queue: readonly (QueueState & { percent: number | undefined; isImporting: boolean })[]
  /** Unix milliseconds. */
  grabbedAt: number | undefined
  failure: { at: number; why: string } | undefined
  /** Number of indexers that automatic searches use. */
  indexers: Known<number>
  /** The program's own health warnings. */
  complaints: readonly string[]
}

export interface Facts {
  request: Known<{ state: RequestState; by: string } | undefined>
  managed: Known<ManagedFacts | undefined>
  /** The number of items that Jellyfin has: 1 for a film, the episodes of a series. */
  library: Known<{ count: number; name: string } | undefined>
  scanning: boolean
}

export const STAGES = [
  'requested',
  'managed',
  'monitored',
  'released',
  'found',
  'downloaded',
  'imported',
  'in Jellyfin',
] as const
export type StageName = (typeof STAGES)[number]
export const STATES = ['ok', 'stopped', 'waiting', 'skipped', 'unknown', 'not reached'] as const

/**
 * The state of a stage: `waiting` continues by itself; `stopped` needs a person, and its `fix` says what to
 * do.
 */
export interface Stage {
  stage: StageName
  state: (typeof STATES)[number]
  detail: string
  fix?: string
}

type Step = Omit<Stage, 'stage'>

const ok = (detail: string): Step => ({ state: 'ok', detail })
const skipped = (detail: string): Step => ({ state: 'skipped', detail })
const unknown = (detail: string): Step => ({ state: 'unknown', detail })
const stopped = (detail: string, fix: string): Step => ({ state: 'stopped', detail, fix })
const waiting = (detail: string, fix?: string): Step => ({
  state: 'waiting',
  detail,
  ...(fix ? { fix } : {}),
})
const NOT_REACHED: Step = { state: 'not reached', detail: 'not reached yet' }

/** Decides every stage from the request to the library, in order. */
export function decideStages(facts: Facts, now: number, timezone: string): Stage[] {
  const { managed } = facts
  const arr = managed.known ? managed.value : undefined
  const isThere = decideThere(facts, arr)
  const rest = managed.known ? NOT_REACHED : unknown(managed.why)
  const steps: Step[] = [
    decideRequested(facts),
    decideManaged(facts),
    ...(arr ? decideManagedSteps(arr, now, timezone) : Array<Step>(5).fill(rest)),
    decideInLibrary(facts, arr),
  ]
  let isStopped = false
  return steps.map((step, index) => {
    const stage = STAGES[index] ?? 'in Jellyfin'
    const isLast = index === steps.length - 1
    // A title that Jellyfin already has needs no request and no Radarr.
    const isOpen = step.state === 'stopped' || step.state === 'waiting'
    if (isThere && isOpen && !isLast) return { stage, ...skipped(step.detail) }
    if (isStopped && step.state !== 'ok' && step.state !== 'unknown') return { stage, ...NOT_REACHED }
    isStopped ||= isOpen
    return { stage, ...step }
  })
}

/** Tells whether Jellyfin has all of it, even a film that did not come through Radarr. */
function decideThere({ library }: Facts, arr: ManagedFacts | undefined): boolean {
  if (!library.known || library.value === undefined) return false
  if (!arr?.isSeries) return true
  return arr.files >= arr.wanted && arr.files <= library.value.count
}

function decideRequested({ request, managed }: Facts): Step {
  if (!request.known) return unknown(request.why)
  const asked = request.value
  const isManaged = managed.known && managed.value !== undefined
  if (!asked) return skipped(`nobody asked for it through Seerr${isManaged ? ', it was added directly' : ''}`)
  const detail = `asked for by ${asked.by}: ${toRequestWords(asked.state)}`
  if (isManaged) return ok(detail)
  switch (asked.state) {
    case 'pending':
      return stopped(detail, 'Have somebody approve the request in Seerr.')
    case 'declined':
      return stopped(detail, 'Ask whoever declined it; it can be requested again.')
    case 'failed':
      return stopped(detail, 'Check the Radarr and Sonarr settings in Seerr, then retry the request there.')
    default:
      return ok(detail)
  }
}

function decideManaged({ managed, request }: Facts): Step {
  if (!managed.known) return unknown(managed.why)
  if (managed.value) return ok(`${managed.value.program} looks after it`)
  const isAsked = request.known && request.value !== undefined
  return stopped(
    'neither Radarr nor Sonarr has it',
    isAsked
      ? 'Seerr has a request for it: retry that in Seerr, or add it with via radarr or sonarr.'
      : 'Ask for it with request_movie or request_show.',
  )
}

/** Decides the steps from monitored to imported. */
function decideManagedSteps(arr: ManagedFacts, now: number, timezone: string): Step[] {
  const files = arr.isSeries ? `${arr.files} of ${toCountText(arr.wanted, 'monitored episode')}` : 'the file'
  if (arr.files >= arr.wanted && arr.files > 0) {
    return [decideMonitored(arr), ...Array<Step>(4).fill(ok(`${arr.program} has ${files}`))]
  }
  return [
    decideMonitored(arr),
    decideReleased(arr, now, timezone),
    decideFound(arr, now),
    decideDownloaded(arr, now),
    decideImported(arr),
  ]
}

function decideMonitored(arr: ManagedFacts): Step {
  if (arr.monitored) return ok(`${arr.program} monitors it`)
  const detail = `it is not monitored, so ${arr.program} does not look for it`
  if (arr.files > 0 || arr.queue.length > 0) return skipped(detail)
  return stopped(detail, `Switch monitoring on in ${arr.program}, or search once with search_missing.`)
}

function decideReleased(arr: ManagedFacts, now: number, timezone: string): Step {
  if (arr.released || arr.queue.length > 0) return ok('it is out')
  const when =
    arr.releaseAt === undefined
      ? 'no date is known'
      : `next on ${toTimeText(arr.releaseAt, timezone)} (${toAgeText(arr.releaseAt, now)})`
  const fix = 'Nothing to do; it is searched for when it comes out.'
  return waiting(`it is not out yet: ${when}`, fix)
}

function decideFound(arr: ManagedFacts, now: number): Step {
  if (arr.queue.length > 0) return ok(`${toCountText(arr.queue.length, 'download')} in the queue`)
  if (arr.grabbedAt !== undefined) return ok(`a release was taken ${toAgeText(arr.grabbedAt, now)}`)
  const complaints = arr.complaints.length > 0 ? `; ${arr.program} says: ${arr.complaints.join('; ')}` : ''
  if (arr.indexers.known && arr.indexers.value === 0) {
    const detail = `no indexer is on for automatic searches${complaints}`
    return stopped(detail, `Add an indexer in ${arr.program}, or switch one on.`)
  }
  return stopped(
    `no release was found that fits${toLacking(arr)}${complaints}`,
    `Search again with search_missing; if nothing comes, loosen the quality profile, or look at an interactive search in ${arr.program}.`,
  )
}

/** Returns how many episodes of a series are missing, because it may be partly there. */
function toLacking({ isSeries, files, wanted }: ManagedFacts): string {
  return isSeries ? ` (${wanted - files} of ${toCountText(wanted, 'monitored episode')} missing)` : ''
}

function decideDownloaded({ queue, failure, grabbedAt = 0 }: ManagedFacts, now: number): Step {
  const [item] = [...queue].sort((a, b) => Number(b.stuck) - Number(a.stuck))
  if (item?.isImporting) return ok('it is downloaded')
  if (item) {
    const percent = item.percent === undefined ? undefined : `${item.percent} %`
    const detail = toFacts([item.state, percent, item.reason])
    if (!item.stuck) return waiting(detail, 'Nothing to do; it goes on by itself.')
    const fix = 'Look at it in the download client; remove it there to have another release tried.'
    return stopped(detail, fix)
  }
  if (failure && failure.at >= grabbedAt) {
    const detail = `the last download failed ${toAgeText(failure.at, now)}: ${failure.why}`
    return stopped(detail, 'Search again with search_missing.')
  }
  return stopped(
    'a release was taken, but it is in no queue any more',
    'Look at the history in the download client; search again with search_missing.',
  )
}

function decideImported({ program, queue }: ManagedFacts): Step {
  const item = queue.find(one => one.isImporting)
  if (!item) return waiting('there is no file yet')
  const detail = toFacts([item.state, item.reason], ': ')
  if (!item.stuck) return waiting(detail, 'Nothing to do; it is imported in a minute.')
  return stopped(
    detail,
    `Import it by hand in ${program} (Activity > Queue), or remove it there to have another release tried.`,
  )
}

function decideInLibrary({ library, scanning }: Facts, arr: ManagedFacts | undefined): Step {
  if (!library.known) return unknown(library.why)
  const there = library.value
  const files = arr?.files ?? 0
  if (there && files <= there.count) {
    return ok(
      arr?.isSeries ? `${there.name} has ${toCountText(there.count, 'episode')}` : `${there.name} has it`,
    )
  }
  const detail = there
    ? `Jellyfin has ${there.count} of ${toCountText(files, 'file')}`
    : 'Jellyfin does not have it'
  if (files === 0) return waiting(detail)
  if (scanning) return waiting(`${detail}; a scan is running`, 'Wait for the end of the scan.')
  return stopped(
    detail,
    'Scan with refresh_library; if it stays away, check that the library holds the folder that the file was put in.',
  )
}
