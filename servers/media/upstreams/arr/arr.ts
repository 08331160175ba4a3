import { z } from 'zod'
import { ToolFailure } from '../../../kit/failure.ts'
import { quote } from '../../../kit/text.ts'
import type { Upstream } from '../../../kit/upstream/upstream.ts'
import {
  command,
  type HealthItem,
  healthItem,
  type Indexer,
  indexer,
  paged,
  profile,
  type QueueItem,
  queueItem,
  rootFolder,
  systemStatus,
} from './shapes.ts'

/*
 * The common requests of Radarr and Sonarr. Every function rejects with UpstreamFailure, or with the signal's
 * reason.
 */

export const API = '/api/v3'
const QUEUE_PAGE = 200
const MOST_NAMES = 20
/** Milliseconds; a lookup, and adding its result, ask services on the web. */
export const WEB_LIMIT = 20_000

/** A Radarr or a Sonarr, with the settings that choose the defaults of an addition. */
export interface Arr {
  readonly name: string
  readonly upstream: Upstream
  readonly settings: {
    readonly QUALITY_PROFILE: string | undefined
    readonly ROOT_FOLDER: string | undefined
  }
  readonly variables: { readonly QUALITY_PROFILE: string; readonly ROOT_FOLDER: string }
}

export async function readVersion(upstream: Upstream, signal?: AbortSignal): Promise<string | undefined> {
  const status = await upstream.get(`${API}/system/status`, { schema: systemStatus, signal })
  return status.version ?? undefined
}

/**
 * Reads the queue's first 200 entries with their films or episodes, including entries that the program cannot
 * identify.
 */
export async function readQueue(
  { kind, upstream }: { kind: 'radarr' | 'sonarr'; upstream: Upstream },
  signal?: AbortSignal,
): Promise<{ items: QueueItem[]; total: number }> {
  const include =
    kind === 'radarr'
      ? { includeMovie: true, includeUnknownMovieItems: true }
      : { includeSeries: true, includeEpisode: true, includeUnknownSeriesItems: true }
  const query = { page: 1, pageSize: QUEUE_PAGE, ...include }
  const found = await upstream.get(`${API}/queue`, { schema: paged(queueItem), query, signal })
  return { items: found.records, total: found.totalRecords }
}

export function readHealth(upstream: Upstream, signal?: AbortSignal): Promise<HealthItem[]> {
  return upstream.get(`${API}/health`, { schema: z.array(healthItem), signal })
}

export function readIndexers(upstream: Upstream, signal?: AbortSignal): Promise<Indexer[]> {
  return upstream.get(`${API}/indexer`, { schema: z.array(indexer), signal })
}

/** Starts one of its tasks, such as MoviesSearch; resolves when the task is queued. */
export async function sendCommand(
  upstream: Upstream,
  body: { name: string } & Record<string, unknown>,
  signal?: AbortSignal,
): Promise<void> {
  await upstream.send('POST', `${API}/command`, { schema: command, body: { json: body }, signal })
}

export interface Chosen {
  profile: { id: number; name: string }
  rootFolder: string
  /** Sentences that explain the choice and list the alternatives. */
  notes: string[]
}

/**
 * Chooses the quality profile and the root folder: the requested ones, else those of the settings, else the
 * first profile and the folder with the most space.
 */
export async function choose(
  arr: Arr,
  wanted: { qualityProfile?: string | undefined; rootFolder?: string | undefined },
  signal?: AbortSignal,
): Promise<Chosen> {
  const { upstream } = arr
  const [profiles, folders] = await Promise.all([
    upstream.get(`${API}/qualityprofile`, { schema: z.array(profile), signal }),
    upstream.get(`${API}/rootfolder`, { schema: z.array(rootFolder), signal }),
  ])
  const { settings, variables } = arr
  const chosenProfile = pick(profiles, one => one.name, wanted.qualityProfile, settings.QUALITY_PROFILE, {
    what: 'quality profile',
    where: upstream.title,
    variable: variables.QUALITY_PROFILE,
  })
  const usable = folders
    .filter(folder => folder.accessible !== false)
    .sort((a, b) => (b.freeSpace ?? 0) - (a.freeSpace ?? 0))
  const chosenFolder = pick(usable, one => one.path, wanted.rootFolder, settings.ROOT_FOLDER, {
    what: 'root folder',
    where: upstream.title,
    variable: variables.ROOT_FOLDER,
  })
  return {
    profile: chosenProfile.found,
    rootFolder: chosenFolder.found.path,
    notes: [chosenProfile.note, chosenFolder.note].filter(note => note !== undefined),
  }
}

function pick<Item>(
  items: readonly Item[],
  toName: (item: Item) => string,
  asked: string | undefined,
  set: string | undefined,
  about: { what: string; where: string; variable: string },
): { found: Item; note?: string } {
  const { what, where, variable } = about
  const names = items.map(toName)
  const wanted = asked ?? set
  const found = wanted === undefined ? items[0] : items.find(item => isSame(toName(item), wanted))
  if (found === undefined) {
    throw new ToolFailure({
      what:
        wanted === undefined
          ? `${where} has no ${what} that can be used.`
          : `${where} has no ${what} ${quote(wanted, 100)}.`,
      where: asked === undefined && set !== undefined ? variable : where,
      why: names.length > 0 ? `it has ${toNames(names)}` : 'it has none',
      fix: names.length > 0 ? 'Choose one of these.' : `Ask the owner to add a ${what} there.`,
    })
  }
  if (wanted !== undefined || names.length < 2) return { found }
  const others = names.filter(name => name !== toName(found))
  return {
    found,
    note: `The ${what} ${quote(toName(found), 100)} is the default; there is also ${toNames(others)}.`,
  }
}

/** Lists names that others wrote: cleaned, and only the first few. */
function toNames(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map(name => quote(name, 100))
  const more = names.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Tells whether two names are equal in any case, or two paths with or without the last slash. */
function isSame(a: string, b: string): boolean {
  const plain = (name: string) =>
    name
      .trim()
      .replace(/(?<![/\\])[/\\]+$/, '')
      .toLowerCase()
  return plain(a) === plain(b)
}
