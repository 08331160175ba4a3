import type { FetchLike } from '@modelcontextprotocol/client'

/** Failures of a stream that never opened after which the server is taken to have none. */
const MOST_FAILURES = 5
const NOT_IMPLEMENTED = 501

/**
 * Returns a `fetch` that shows the SDK a first stream that failed as one that broke at once. The SDK reopens
 * a stream that broke, but gives up one that fails the first time: it would miss the server's notifications
 * for as long as the session lives.
 */
export function withFirstStream(fetch: FetchLike): FetchLike {
  let failures = 0
  let isSettled = false
  return async (url, init) => {
    if (isSettled || init?.method !== 'GET' || new Headers(init.headers).has('last-event-id')) {
      return fetch(url, init)
    }
    const response = await fetch(url, init).catch(error => {
      // An aborted request is not a failure.
      if (init.signal?.aborted) throw error
    })
    if (response && !mayOpenLater(response)) {
      isSettled = true
      return response
    }
    await response?.body?.cancel()
    failures++
    isSettled = failures === MOST_FAILURES
    return isSettled
      ? new Response(null, { status: 405 })
      : new Response('', { headers: { 'Content-Type': 'text/event-stream' } })
  }
}

/** Tells whether a stream that was refused with this status may be opened later. */
export function mayOpenLater({ status }: Pick<Response, 'status'>): boolean {
  return status === 429 || (status >= 500 && status !== NOT_IMPLEMENTED)
}
