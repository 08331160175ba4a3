import {
  type FetchLike,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Clock } from '../../core/clock.ts'
import { decideBackoff } from '../backoff.ts'
import { describeOverlong } from '../bounds.ts'
import type { Authorization } from '../oauth/authorization.ts'
import { letFetchIn } from '../oauth/let-in.ts'
import type { ServerSpec } from '../server-spec.ts'
import { createBoundedFetch } from './bounded-fetch.ts'
import { withFirstStream } from './first-stream.ts'

/** Milliseconds that a server may take to hear that a session is over. */
const GOODBYE_MS = 1_000
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
    fetch: withStatus(deps.authorization ? letFetchIn(bounded, deps.authorization) : bounded),
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
