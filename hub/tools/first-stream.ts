import type { FetchLike } from '@modelcontextprotocol/client'

/** A server whose stream fails so often before it ever opened is taken to have none. */
const MOST_FAILURES = 5
const NOT_IMPLEMENTED = 501

/**
 * The SDK opens the stream of a session again where it broke, and gives it up where it fails the first time. Here such a
 * one looks as if it broke at once, so that what the server tells by itself is not missed for as long as the session lives.
 */
export function withFirstStream(fetch: FetchLike): FetchLike {
  let failures = 0
  let isSettled = false
  return async (url, init) => {
    if (isSettled || init?.method !== 'GET' || new Headers(init.headers).has('last-event-id')) {
      return fetch(url, init)
    }
    const response = await fetch(url, init).catch(error => {
      // A stream that nobody wants any more did not fail.
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

/** Whether a stream that was refused so may be opened later. */
export function mayOpenLater({ status }: Pick<Response, 'status'>): boolean {
  return status === 429 || (status >= 500 && status !== NOT_IMPLEMENTED)
}
