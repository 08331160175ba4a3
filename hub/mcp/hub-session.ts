import {
  type FetchLike,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type JSONRPCResultResponse,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { describeError } from '../core/errors.ts'
import { createTrustedFetch } from '../core/trusted-fetch.ts'

/** The hub's present address; it may change after a restart. */
export interface HubAddress {
  url: string
  token: string
  /** PEM of the certificate by which the hub is known; undefined for http. */
  certificate?: string | undefined
  /** Path of MCP there: `/mcp`, `/mcp/<toolset>`, `/mcp?tools=lean`. */
  path: string
}

export type Hub = StreamableHTTPClientTransport

export interface HubSessionEvents {
  onMessage(hub: Hub, message: JSONRPCMessage): void
  onError(error: Error): void
  /** Called when the hub cannot send what no request asked for, and will not in this session any more. */
  onStreamLost(hub: Hub, error: Error): void
}

/** Requests that open a legacy client's session once more; the hub's answers are kept from the client. */
export interface Reopening {
  initialize: JSONRPCRequest
  /** Requests that are sent when the session is open. */
  requests: JSONRPCRequest[]
}

/** Prefix of the ids of events that belong to no request. */
const OWN_STREAM = '_GET_stream~'
/** Status of a server that has no such stream; its client then does not ask again. */
const NO_STREAM = 405

/**
 * Opens a connection to a hub. `hearing` resolves with the answer to `initialize` of a reopened session, once
 * the hub can tell of changes. Throws what went wrong.
 */
export async function openHubSession(
  { url, token, certificate, path }: HubAddress,
  events: HubSessionEvents,
  reopening: Reopening | undefined,
) {
  const heard = Promise.withResolvers<void>()
  const hub = new StreamableHTTPClientTransport(new URL(path, url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
    fetch: watchOwnStream(createTrustedFetch(certificate), {
      onStreamOpen: heard.resolve,
      onStreamLost: error => events.onStreamLost(hub, error),
    }),
  })
  const receive = (message: JSONRPCMessage) => events.onMessage(hub, message)
  hub.onmessage = receive
  hub.onerror = events.onError
  await hub.start()
  if (!reopening) return { hub, hearing: undefined }
  try {
    const answer = await ask(hub, reopening.initialize, receive)
    const version = 'result' in answer ? answer.result['protocolVersion'] : undefined
    if (!('result' in answer) || typeof version !== 'string')
      throw new Error(`The hub refused a new session: ${JSON.stringify(answer)}`)
    hub.setProtocolVersion(version)
    await hub.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    for (const request of reopening.requests) await ask(hub, request, receive)
    return { hub, hearing: heard.promise.then(() => answer.result) }
  } catch (error) {
    await hub.close()
    throw error
  }
}

/** Returns the answer to a request, which `receive` does not get; `receive` gets other messages as ever. */
async function ask(
  hub: Hub,
  request: JSONRPCRequest,
  receive: (message: JSONRPCMessage) => void,
): Promise<JSONRPCResultResponse | JSONRPCErrorResponse> {
  const answered = Promise.withResolvers<JSONRPCResultResponse | JSONRPCErrorResponse>()
  hub.onmessage = message => {
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)
    if (isAnswer && message.id === request.id) answered.resolve(message)
    else receive(message)
  }
  const onRequestStreamEnd = () => answered.reject(new Error('The hub went away while a session was opened'))
  try {
    const [, answer] = await Promise.all([hub.send(request, { onRequestStreamEnd }), answered.promise])
    return answer
  } finally {
    hub.onmessage = receive
  }
}

/**
 * Watches a session's own stream, which the transport opens again once after its end. If that fails, the
 * session is most likely gone: the transport is told that there is no such stream, so that it does not retry
 * while a new session is opened.
 */
function watchOwnStream(
  fetch: FetchLike,
  events: { onStreamOpen(): void; onStreamLost(error: Error): void },
): FetchLike {
  return async (url, init) => {
    const lastEventId = new Headers(init?.headers).get('last-event-id') ?? OWN_STREAM
    if (init?.method !== 'GET' || !lastEventId.startsWith(OWN_STREAM)) return fetch(url, init)
    try {
      const response = await fetch(url, init)
      if (response.ok || response.status === NO_STREAM) {
        events.onStreamOpen()
        return response
      }
      await response.body?.cancel()
      events.onStreamLost(new Error(`The hub tells of no changes: ${response.status} ${response.statusText}`))
    } catch (error) {
      if (init.signal?.aborted) throw error
      events.onStreamLost(new Error(`The hub tells of no changes: ${describeError(error)}`, { cause: error }))
    }
    return new Response(null, { status: NO_STREAM })
  }
}
