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

/** Decides every stage from the request to the library, in order. */
export function decideStages(facts: Facts, now: number, timezone: string): Stage[] {
  const { managed } = facts
  const arr = managed.known ? managed.value : undefined
  const isThere = decideThere(facts, arr)
  const steps: Step[] = [
    decideRequested(facts),
    decideManaged(facts),
    ...(arr ? decideManagedSteps(arr, now, timezone) : toNotReached(5, managed)),
    decideInLibrary(facts, arr),
  ]
  let isStopped = false
  return steps.map((step, index) => {
    const stage = STAGES[index] ?? 'in Jellyfin'
    const isLast = index === steps.length - 1
    // A title that Jellyfin already has needs no request and no Radarr.
    const isOpen = step.state === 'stopped' || step.state === 'waiting'
    if (isThere && isOpen && !isLast) return { stage, state: 'skipped', detail: step.detail }
    if (isStopped && step.state !== 'ok' && step.state !== 'unknown') {
      return { stage, state: 'not reached', detail: 'not reached yet' }
    }
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
  if (!request.known) return { state: 'unknown', detail: request.why }
  const asked = request.value
  const isManaged = managed.known && managed.value !== undefined
  if (!asked) {
    const detail = 'nobody asked for it through Seerr'
    return isManaged
      ? { state: 'skipped', detail: `${detail}, it was added directly` }
      : { state: 'skipped', detail }
  }
  const detail = `asked for by ${asked.by}: ${toRequestWords(asked.state)}`
  if (isManaged) return { state: 'ok', detail }
  switch (asked.state) {
    case 'pending':
      return { state: 'stopped', detail, fix: 'Have somebody approve the request in Seerr.' }
    case 'declined':
      return { state: 'stopped', detail, fix: 'Ask whoever declined it; it can be requested again.' }
    case 'failed':
      return {
        state: 'stopped',
        detail,
        fix: 'Check the Radarr and Sonarr settings in Seerr, then retry the request there.',
      }
    default:
      return { state: 'ok', detail }
  }
}

function decideManaged({ managed, request }: Facts): Step {
  if (!managed.known) return { state: 'unknown', detail: managed.why }
  if (managed.value) return { state: 'ok', detail: `${managed.value.program} looks after it` }
  const isAsked = request.known && request.value !== undefined
  return {
    state: 'stopped',
    detail: 'neither Radarr nor Sonarr has it',
    fix: isAsked
      ? 'Seerr has a request for it: retry that in Seerr, or add it with via radarr or sonarr.'
      : 'Ask for it with request_movie or request_show.',
  }
}

function toNotReached(count: number, managed: Facts['managed']): Step[] {
  const step: Step = managed.known
    ? { state: 'not reached', detail: 'not reached yet' }
    : { state: 'unknown', detail: managed.why }
  return Array.from({ length: count }, () => step)
}

/** Decides the steps from monitored to imported. */
function decideManagedSteps(arr: ManagedFacts, now: number, timezone: string): Step[] {
  const isWhole = arr.files >= arr.wanted && arr.files > 0
  const files = arr.isSeries ? `${arr.files} of ${toCountText(arr.wanted, 'monitored episode')}` : 'the file'
  if (isWhole) {
    const detail = `${arr.program} has ${files}`
    return [decideMonitored(arr), ...Array.from({ length: 4 }, (): Step => ({ state: 'ok', detail }))]
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
  if (arr.monitored) return { state: 'ok', detail: `${arr.program} monitors it` }
  const detail = `it is not monitored, so ${arr.program} does not look for it`
  if (arr.files > 0 || arr.queue.length > 0) return { state: 'skipped', detail }
  return {
    state: 'stopped',
    detail,
    fix: `Switch monitoring on in ${arr.program}, or search once with search_missing.`,
  }
}

function decideReleased(arr: ManagedFacts, now: number, timezone: string): Step {
  if (arr.released || arr.queue.length > 0) return { state: 'ok', detail: 'it is out' }
  const when =
    arr.releaseAt === undefined
      ? 'no date is known'
      : `next on ${toTimeText(arr.releaseAt, timezone)} (${toAgeText(arr.releaseAt, now)})`
  return {
    state: 'waiting',
    detail: `it is not out yet: ${when}`,
    fix: 'Nothing to do; it is searched for when it comes out.',
  }
}

function decideFound(arr: ManagedFacts, now: number): Step {
  if (arr.queue.length > 0)
    return { state: 'ok', detail: `${toCountText(arr.queue.length, 'download')} in the queue` }
  if (arr.grabbedAt !== undefined) {
    return { state: 'ok', detail: `a release was taken ${toAgeText(arr.grabbedAt, now)}` }
  }
  const complaints = arr.complaints.length > 0 ? `; ${arr.program} says: ${arr.complaints.join('; ')}` : ''
  if (arr.indexers.known && arr.indexers.value === 0) {
    return {
      state: 'stopped',
      detail: `no indexer is on for automatic searches${complaints}`,
      fix: `Add an indexer in ${arr.program}, or switch one on.`,
    }
  }
  return {
    state: 'stopped',
    detail: `no release was found that fits${toLacking(arr)}${complaints}`,
    fix: `Search again with search_missing; if nothing comes, loosen the quality profile, or look at an interactive search in ${arr.program}.`,
  }
}

/** Returns how many episodes of a series are missing, because it may be partly there. */
function toLacking({ isSeries, files, wanted }: ManagedFacts): string {
  return isSeries ? ` (${wanted - files} of ${toCountText(wanted, 'monitored episode')} missing)` : ''
}

function decideDownloaded(arr: ManagedFacts, now: number): Step {
  const [item] = [...arr.queue].sort((a, b) => Number(b.stuck) - Number(a.stuck))
  if (item?.isImporting) return { state: 'ok', detail: 'it is downloaded' }
  if (item) {
    const detail = [item.state, item.percent === undefined ? '' : `${item.percent} %`, item.reason ?? '']
      .filter(text => text !== '')
      .join(', ')
    if (!item.stuck) return { state: 'waiting', detail, fix: 'Nothing to do; it goes on by itself.' }
    return {
      state: 'stopped',
      detail,
      fix: 'Look at it in the download client; remove it there to have another release tried.',
    }
  }
  const { failure } = arr
  if (failure && failure.at >= (arr.grabbedAt ?? 0)) {
    return {
      state: 'stopped',
      detail: `the last download failed ${toAgeText(failure.at, now)}: ${failure.why}`,
      fix: 'Search again with search_missing.',
    }
  }
  return {
    state: 'stopped',
    detail: 'a release was taken, but it is in no queue any more',
    fix: `Look at the history in the download client; search again with search_missing.`,
  }
}

function decideImported(arr: ManagedFacts): Step {
  const item = arr.queue.find(one => one.isImporting)
  if (!item) return { state: 'waiting', detail: 'there is no file yet' }
  const detail = [item.state, item.reason ?? ''].filter(text => text !== '').join(': ')
  if (!item.stuck) return { state: 'waiting', detail, fix: 'Nothing to do; it is imported in a minute.' }
  return {
    state: 'stopped',
    detail,
    fix: `Import it by hand in ${arr.program} (Activity > Queue), or remove it there to have another release tried.`,
  }
}

function decideInLibrary({ library, scanning }: Facts, arr: ManagedFacts | undefined): Step {
  if (!library.known) return { state: 'unknown', detail: library.why }
  const there = library.value
  const files = arr?.files ?? 0
  if (there && files <= there.count) {
    return {
      state: 'ok',
      detail: arr?.isSeries
        ? `${there.name} has ${toCountText(there.count, 'episode')}`
        : `${there.name} has it`,
    }
  }
  const detail = there
    ? `Jellyfin has ${there.count} of ${toCountText(files, 'file')}`
    : 'Jellyfin does not have it'
  if (files === 0) return { state: 'waiting', detail }
  if (scanning)
    return { state: 'waiting', detail: `${detail}; a scan is running`, fix: 'Wait for the end of the scan.' }
  return {
    state: 'stopped',
    detail,
    fix: 'Scan with refresh_library; if it stays away, check that the library holds the folder that the file was put in.',
  }
}
