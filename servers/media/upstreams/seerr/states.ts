import type { SeerrRequest } from './shapes.ts'

const REQUEST = { pending: 1, approved: 2, declined: 3, failed: 4, completed: 5 } as const
/** Above 5 the forks differ: blocklisted or deleted. */
export const MEDIA = { unknown: 1, pending: 2, processing: 3, partial: 4, available: 5 } as const

/** A request's states: one word for filters, and words for sentences. */
const WORDS = {
  pending: 'waits for approval',
  approved: 'approved, not sent on yet',
  processing: 'approved, on its way',
  partially_available: 'partly available',
  available: 'available',
  declined: 'declined',
  failed: 'failed: Seerr could not hand it to Radarr or Sonarr',
  unknown: 'in an unknown state',
}
export type RequestState = keyof typeof WORDS

/** Decides the state from the request's own state and its media's state. */
export function decideRequestState(request: SeerrRequest): RequestState {
  const media = (request.is4k ? request.media?.status4k : request.media?.status) ?? MEDIA.unknown
  if (request.status === REQUEST.declined) return 'declined'
  if (request.status === REQUEST.failed) return 'failed'
  if (request.status === REQUEST.pending) return 'pending'
  if (media === MEDIA.available || request.status === REQUEST.completed) return 'available'
  if (media === MEDIA.partial) return 'partially_available'
  if (media === MEDIA.processing) return 'processing'
  return request.status === REQUEST.approved ? 'approved' : 'unknown'
}

export function toRequestWords(state: RequestState): string {
  return WORDS[state]
}

export function toRequester(request: SeerrRequest): string {
  const by = request.requestedBy
  return by?.displayName || by?.username || by?.jellyfinUsername || 'somebody'
}
