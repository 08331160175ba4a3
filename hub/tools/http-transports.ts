import {
  type FetchLike,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Clock } from '../core/clock.ts'
import { decideBackoff } from './backoff.ts'
import { createBoundedFetch } from './bounded-fetch.ts'
import { describeOverlong } from './bounds.ts'
import { withFirstStream } from './first-stream.ts'
import type { Authorization } from './oauth/authorization.ts'
import { letFetchIn } from './oauth/let-in.ts'
import type { ServerSpec } from './server-spec.ts'

/** How long a server may take to hear that a session is over. */
const GOODBYE_MS = 1_000
/** A stream that broke is opened again for as long as the connection lives. */
const RECONNECTION = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: Number.POSITIVE_INFINITY,
}

type HttpAddress = Extract<ServerSpec['transport'], { kind: 'http' }>

export interface HttpTransportDeps {
  clock: Clock
  /** What lets the hub in where the address' own headers do not. */
  authorization: Authorization | undefined
  /** The connection ends by our doing, and why; told before `onclose`. */
  onGone(why: string): void
  /** A stream broke and is opened again; what it would have told may be missed. */
  onBroken(): void
}

/** Streamable HTTP, of both eras. A session that is left is ended, so that the server need not keep it. */
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
    fetch: authorization ? letFetchIn(bounded, authorization) : bounded,
    reconnectionOptions: RECONNECTION,
    reconnectionScheduler: (reconnect, delay, failures) => {
      // A server may want to be asked again at once, and then not answer for long.
      const least = decideBackoff(failures + 1, () => 0)
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

/** Resolves once the server heard that the session is over, or does not seem to listen. */
async function sayGoodbye(transport: StreamableHTTPClientTransport, clock: Clock): Promise<void> {
  if (transport.sessionId === undefined) return
  const over = Promise.withResolvers<void>()
  const cancel = clock.after(GOODBYE_MS, over.resolve)
  // Whoever has forgotten the session, or is gone, need not hear of it.
  transport.terminateSession().then(over.resolve, over.resolve)
  await over.promise
  cancel()
}

/**
 * HTTP+SSE of 2024-11-05. Its stream is its session: where that ends the connection is closed, which the SDK's own
 * transport does not do: it goes on with a new session that nobody has initialized.
 */
export function createSseTransport({ url, headers }: HttpAddress, deps: HttpTransportDeps): Transport {
  const bounded = createBoundedFetch(deps.clock, () => {
    deps.onGone(describeOverlong())
    void transport.close()
  })
  const transport: Transport = new SSEClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: withStatus(deps.authorization ? letFetchIn(bounded, deps.authorization) : bounded),
  })
  transport.onerror = error => {
    if (error instanceof SseError) void transport.close()
  }
  return transport
}

/** The SDK throws away the status of a message that was refused, by which a lost session is known. */
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
