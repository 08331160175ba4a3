import { z } from 'zod'
import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import type { Upstream } from '../../../kit/upstream/upstream.ts'
import type { SeerrSettings } from '../../config.ts'
import { found, request, requestPage, type SeerrRequest, searchPage } from './shapes.ts'

/*
 * Requests to Seerr; Overseerr and Jellyseerr answer them alike. Every function rejects with UpstreamFailure,
 * or with the signal's reason.
 */

const API = '/api/v1'
/** Seerr's answer "Request for this media already exists." */
const CONFLICT = 409

export interface Seerr extends SeerrSettings {
  readonly kind: 'seerr'
  readonly upstream: Upstream
}
export type SeerrKind = 'movie' | 'tv'

/** A film or series as Seerr knows it; the ids of both are TMDB's. */
export interface SeerrTitle {
  id: number
  title: string
  year: number | undefined
  /** Seerr's media state, see states.ts; undefined if it was never requested. */
  status: number | undefined
  status4k: number | undefined
  requests: readonly SeerrRequest[]
}

/** Searches the web for the title, best match first. */
export async function searchSeerr(
  { upstream }: Seerr,
  kind: SeerrKind,
  query: string,
  signal?: AbortSignal,
): Promise<SeerrTitle[]> {
  const path = `${API}/search?query=${encodeStrictly(query)}&page=1`
  const { results } = await upstream.get(path, { schema: searchPage, signal })
  return results.filter(one => one.mediaType === kind).map(toSeerrTitle)
}

export async function readSeerrTitle(
  { upstream }: Seerr,
  kind: SeerrKind,
  id: number,
  signal?: AbortSignal,
): Promise<SeerrTitle> {
  return toSeerrTitle(await upstream.get(`${API}/${kind}/${id}`, { schema: found, signal }))
}

/** Reads requests, newest first. */
export async function readRequests(
  { upstream }: Seerr,
  query: { filter: string; take: number; skip: number },
  signal?: AbortSignal,
): Promise<{ requests: SeerrRequest[]; total: number }> {
  const { results, pageInfo } = await upstream.get(`${API}/request`, {
    schema: requestPage,
    query: { ...query, sort: 'added' },
    signal,
  })
  return { requests: results, total: pageInfo.results }
}

/** Sends a request. Returns undefined if Seerr answers that everything in it was requested before. */
export async function sendRequest(
  { upstream }: Seerr,
  body: { mediaType: SeerrKind; mediaId: number; seasons?: readonly number[] | 'all'; is4k: boolean },
  signal?: AbortSignal,
): Promise<SeerrRequest | undefined> {
  try {
    const created = await upstream.send('POST', `${API}/request`, {
      schema: z.union([request, z.object({ message: z.string() })]),
      body: { json: body },
      signal,
    })
    // Seerr answers 202 without a request when no season is left to request.
    return 'id' in created ? created : undefined
  } catch (error) {
    if (error instanceof UpstreamFailure && error.status === CONFLICT) return undefined
    throw error
  }
}

function toSeerrTitle(one: z.output<typeof found>): SeerrTitle {
  const date = one.releaseDate || one.firstAirDate || ''
  const info = one.mediaInfo
  return {
    id: one.id,
    title: one.title ?? one.name ?? 'a title without a name',
    year: /^\d{4}/.test(date) ? Number(date.slice(0, 4)) : undefined,
    status: info?.status ?? undefined,
    status4k: info?.status4k ?? undefined,
    requests: info?.requests ?? [],
  }
}

/**
 * Encodes by RFC 3986, because Seerr's validator refuses a plus for a space and unencoded reserved
 * characters.
 */
function encodeStrictly(value: string): string {
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    one => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
