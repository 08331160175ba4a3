import type { LabAnswer } from '../../hub/demo/http.ts'
import { type CheckedLab, type CheckedOptions, type Routes, startChecked } from './checked.ts'

const KEY = 'lab-seerr-key-0123456789abcdef'
const AT = '2026-07-02T14:26:22.000Z'
/** Characters that Seerr's validator refuses unencoded in a query: it follows RFC 3986. */
const RESERVED = /[:/?#[\]@!$'()*+,;]/

export interface LabTitle {
  mediaType: 'movie' | 'tv'
  /** TMDB's id. */
  id: number
  title: string
  year: number
  seasons: number[]
  /** The media's state: 1 unknown … 5 available. */
  status: number
}

export interface LabRequestState {
  id: number
  /** 1 pending, 2 approved, 3 declined, 4 failed, 5 completed. */
  status: number
  type: 'movie' | 'tv'
  tmdbId: number
  seasons: number[]
  is4k: boolean
  by: string
}

export interface Seerr extends CheckedLab {
  readonly apiKey: string
  readonly state: {
    titles: LabTitle[]
    requests: LabRequestState[]
    /** True if requests are approved automatically. */
    approves: boolean
  }
}

/** Starts a Seerr that knows a few titles; "Arrival" is available, "Blade Runner 2049" is requested. */
export async function startSeerr(options: CheckedOptions = {}): Promise<Seerr> {
  const movie = (title: string, year: number, id: number, status = 1): LabTitle => {
    return { mediaType: 'movie', id, title, year, seasons: [], status }
  }
  const show = (title: string, year: number, id: number, seasons: number[], status = 1): LabTitle => {
    return { mediaType: 'tv', id, title, year, seasons, status }
  }
  const state: Seerr['state'] = {
    titles: [
      movie('Dune', 2021, 438631),
      movie('Dune', 1984, 841),
      movie("Schindler's List", 1993, 424),
      movie('Arrival', 2016, 329865, 5),
      movie('Blade Runner 2049', 2017, 335984, 3),
      show('Breaking Bad', 2008, 1396, [1, 2, 3, 4, 5]),
      show('Severance', 2022, 95396, [1, 2], 4),
    ],
    requests: [
      { id: 1, status: 2, type: 'movie', tmdbId: 335984, seasons: [], is4k: false, by: 'alex' },
      { id: 2, status: 5, type: 'tv', tmdbId: 95396, seasons: [1], is4k: false, by: 'sam' },
    ],
    approves: true,
  }
  const lab = await startChecked({
    ...options,
    refuse: ({ headers, url }) =>
      headers['x-api-key'] === KEY || url.pathname === '/api/v1/status'
        ? undefined
        : { status: 403, body: { message: 'You do not have permission to access this endpoint' } },
    routes: toRoutes(state),
    undescribed: [202],
  })
  return { ...lab, apiKey: KEY, state }
}

function toRoutes(state: Seerr['state']): Routes {
  const details = (mediaType: LabTitle['mediaType'], id: number): LabAnswer => {
    const title = state.titles.find(one => one.mediaType === mediaType && one.id === id)
    return title
      ? { body: toResult(state, title, true) }
      : { status: 404, body: { message: 'Unable to retrieve title.' } }
  }
  return {
    'GET /api/v1/settings/about': () => ({
      body: { version: '3.4.1', totalRequests: state.requests.length, totalMediaItems: 7 },
    }),
    'GET /api/v1/search': ({ url }) => search(state, url),
    'GET /api/v1/movie/:id': ({ slots }) => details('movie', Number(slots[0])),
    'GET /api/v1/tv/:id': ({ slots }) => details('tv', Number(slots[0])),
    'GET /api/v1/request': ({ url }) => {
      const [take, skip] = ['take', 'skip'].map(name => Number(url.searchParams.get(name) ?? 0))
      const filter = url.searchParams.get('filter')
      const states: Readonly<Record<string, number>> = { pending: 1, approved: 2, failed: 4 }
      const wanted = state.requests.filter(
        one => !filter || !(filter in states) || one.status === states[filter],
      )
      const results = wanted.toReversed().slice(skip, (skip ?? 0) + (take ?? 10))
      const pageInfo = { pages: 1, pageSize: take, results: wanted.length, page: 1 }
      return { body: { pageInfo, results: results.map(one => toRequest(state, one)) } }
    },
    'POST /api/v1/request': ({ json }) => request(state, json as Body),
  }
}

interface Body {
  mediaType: 'movie' | 'tv'
  mediaId: number
  seasons?: number[] | 'all'
  is4k?: boolean
}

function request(state: Seerr['state'], { mediaType, mediaId, seasons, is4k = false }: Body): LabAnswer {
  const title = state.titles.find(one => one.mediaType === mediaType && one.id === mediaId)
  if (!title) return { status: 500, body: { message: 'Unable to retrieve title.' } }
  const before = state.requests.filter(one => one.type === mediaType && one.tmdbId === mediaId)
  if (mediaType === 'movie' && before.length > 0) {
    return { status: 409, body: { message: 'Request for this media already exists.' } }
  }
  const asked = new Set(before.flatMap(one => one.seasons))
  const wanted = (seasons === 'all' ? title.seasons : (seasons ?? [])).filter(season => !asked.has(season))
  if (mediaType === 'tv' && wanted.length === 0) {
    return { status: 202, body: { message: 'No seasons available to request' } }
  }
  const made: LabRequestState = {
    id: state.requests.length + 1,
    status: state.approves ? 2 : 1,
    type: mediaType,
    tmdbId: mediaId,
    seasons: wanted,
    is4k,
    by: 'alex',
  }
  state.requests.push(made)
  title.status = Math.max(title.status, state.approves ? 3 : 2)
  return { status: 201, body: toRequest(state, made) }
}

function search(state: Seerr['state'], url: URL): LabAnswer {
  const sent = /[?&]query=([^&]*)/.exec(url.search)?.[1] ?? ''
  if (sent === '' || RESERVED.test(sent)) {
    const message = "Parameter 'query' must be url encoded. Its value may not contain reserved characters."
    return { status: 400, body: { message } }
  }
  const words = decodeURIComponent(sent).toLowerCase()
  const found = state.titles.filter(one => one.title.toLowerCase().includes(words))
  const results = found.map(one => toResult(state, one, false))
  return { body: { page: 1, totalPages: 1, totalResults: found.length, results } }
}

function toResult(state: Seerr['state'], title: LabTitle, whole: boolean) {
  const { id, mediaType, year, status } = title
  const requests = state.requests.filter(one => one.type === mediaType && one.tmdbId === id)
  const mediaInfo = {
    id,
    mediaType,
    tmdbId: id,
    tvdbId: null,
    status,
    status4k: 1,
    createdAt: AT,
    updatedAt: AT,
    ...(whole ? { requests: requests.map(one => toRequest(state, one)) } : {}),
  }
  const names =
    mediaType === 'movie'
      ? { title: title.title, originalTitle: title.title, releaseDate: `${year}-09-15` }
      : { name: title.title, originalName: title.title, firstAirDate: `${year}-02-18` }
  const known = status > 1 || requests.length > 0 ? { mediaInfo } : {}
  return { id, mediaType, overview: 'A title of the lab.', ...names, ...known }
}

function toRequest(state: Seerr['state'], one: LabRequestState) {
  const title = state.titles.find(({ id, mediaType }) => id === one.tmdbId && mediaType === one.type)
  return {
    id: one.id,
    status: one.status,
    type: one.type,
    is4k: one.is4k,
    createdAt: AT,
    updatedAt: AT,
    seasons: one.seasons.map(seasonNumber => ({ id: seasonNumber, seasonNumber, status: one.status })),
    media: {
      id: one.tmdbId,
      mediaType: one.type,
      tmdbId: one.tmdbId,
      tvdbId: null,
      status: title?.status ?? 1,
      status4k: 1,
      createdAt: AT,
      updatedAt: AT,
    },
    requestedBy: {
      id: 1,
      email: `${one.by}@example.test`,
      displayName: one.by,
      createdAt: AT,
      updatedAt: AT,
    },
  }
}
