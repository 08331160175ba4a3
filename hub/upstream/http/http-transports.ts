import {
  type FetchLike,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { decideBackoff } from '../../core/backoff.ts'
import type { Clock } from '../../core/clock.ts'
import { describeOverlong } from '../bounds.ts'
import type { Authorization } from '../oauth/authorization.ts'
import { WAITS } from '../restarts.ts'
import type { ServerSpec } from '../server-spec.ts'
import { createBoundedFetch } from './bounded-fetch.ts'
import { mayOpenLater } from './http-post.ts'

/** Milliseconds that a server may take to hear that a session is over. */
const GOODBYE_MS = 1_000
/** Failures of a stream that never opened after which the server is taken to have none. */
const MOST_FAILURES = 5
/** Reopens a stream that broke for as long as the connection lives. */
const RECONNECTION = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: Number.POSITIVE_INFINITY,
}

type HttpAddress = Extract<ServerSpec['transport'], { kind: 'http' }>

export interface HttpTransportDeps {
  clock: Clock
  /** The hub's login; undefined if there is none, or if the entry's headers hold it. */
  authorization: Authorization | undefined
  /** Called with the reason, before `onclose`, when the hub ends the connection. */
  onGone(why: string): void
  /** Called when a stream that broke is opened again; notifications may have been missed. */
  onBroken(): void
}

/** Creates a Streamable HTTP transport of both eras. Closing it ends the session on the server too. */
export function createStreamableTransport(
  { url, headers }: HttpAddress,
  { clock, authorization, onGone, onBroken }: HttpTransportDeps,
): StreamableHTTPClientTransport {
  const onOverlong = () => {
    onGone(describeOverlong())
    void transport.close()
  }
  const bounded = withFirstStream(createBoundedFetch(clock, onOverlong))
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: withAuth(bounded, authorization),
    reconnectionOptions: RECONNECTION,
    reconnectionScheduler: (reconnect, delay, failures) => {
      // A server may want to be asked again at once, and then not answer for long.
      const least = decideBackoff(failures + 1, WAITS, () => 0)
      return clock.after(Math.max(delay, least), () => {
        reconnect()
        onBroken()
      })
    },
  })
  const close = transport.close.bind(transport)
  let closing: Promise<void> | undefined
  transport.close = () => {
    closing ??= sayGoodbye(transport, clock).then(close)
    return closing
  }
  return transport
}

/** Ends the session; resolves once the server heard of it, or does not seem to listen. */
async function sayGoodbye(transport: StreamableHTTPClientTransport, clock: Clock): Promise<void> {
  if (transport.sessionId === undefined) return
  const over = Promise.withResolvers<void>()
  const cancel = clock.after(GOODBYE_MS, over.resolve)
  // A server that has forgotten the session, or is gone, need not hear of its end.
  transport.terminateSession().then(over.resolve, over.resolve)
  await over.promise
  cancel()
}

/**
 * Creates an HTTP+SSE transport (2024-11-05). Its stream is its session, so the connection is closed when the
 * stream ends; the SDK's own transport goes on with a new session that nobody has initialized.
 */
export function createSseTransport({ url, headers }: HttpAddress, deps: HttpTransportDeps): Transport {
  const bounded = createBoundedFetch(deps.clock, () => {
    deps.onGone(describeOverlong())
    void transport.close()
  })
  const transport: Transport = new SSEClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: withStatus(withAuth(bounded, deps.authorization)),
  })
  transport.onerror = error => {
    if (error instanceof SseError) void transport.close()
  }
  return transport
}

/** Keeps the status of a refused message, by which a lost session is known: the SDK throws it away. */
function withStatus(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (init?.method !== 'POST' || response.ok) return response
    const { status, statusText } = response
    const text = await response.text()
    throw new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `Error POSTing to endpoint: ${text}`, {
      status,
      statusText,
      text,
    })
  }
}

/**
 * Returns a `fetch` that shows the SDK a first stream that failed as one that broke at once. The SDK reopens
 * a stream that broke, but gives up one that fails the first time: it would miss the server's notifications
 * for as long as the session lives.
 */
function withFirstStream(fetch: FetchLike): FetchLike {
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

/**
 * Returns a `fetch` that adds the bearer token, at the server's own origin only. A refused request was not
 * carried out, so it is made once more if new tokens came.
 */
export function withAuth(fetch: FetchLike, authorization: Authorization | undefined): FetchLike {
  if (!authorization) return fetch
  const { origin } = new URL(authorization.spec.transport.url)
  return async (url, init) => {
    if (new URL(url).origin !== origin) return fetch(url, init)
    await authorization.fresh()
    for (let again = false; ; again = true) {
      const used = authorization.bearer
      const headers = new Headers(init?.headers)
      if (used !== undefined) headers.set('Authorization', `Bearer ${used}`)
      const response = await fetch(url, { ...init, headers })
      const { status } = response
      if (status !== 401 && status !== 403) return response
      const authenticate = response.headers.get('WWW-Authenticate') ?? undefined
      if (!(await authorization.refused({ status, authenticate, used, again }))) return response
      await response.body?.cancel()
    }
  }
}
