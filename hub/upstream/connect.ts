import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Client,
  type ClientCapabilities,
  type JSONRPCRequest,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import type { JsonObject, Requester } from '../core/forwarding.ts'
import { createHttpPost, type HttpPost } from './http/http-post.ts'
import { createSseTransport, createStreamableTransport } from './http/http-transports.ts'
import { type ArgumentMirror, createArgumentMirror, toStandardHeaders } from './http/param-headers.ts'
import { decideNextMode, type Mode, type NegotiationCache } from './negotiation.ts'
import type { Authorization } from './oauth/authorization.ts'
import { type RawRequestDeps, RawRequests } from './raw-requests.ts'
import type { ServerSpec } from './server-spec.ts'
import { type ChildEvents, createStdioTransport } from './stdio/stdio-transport.ts'

/** The protocol version that a server has to speak if its entry pins the modern era. */
const MODERN = '2026-07-28'
/** Milliseconds after which a stdio server that does not answer the probe counts as legacy. */
const PROBE_TIMEOUT_MS = 3_000

/** Headers that the hub sets on each request: an entry's would repeat them or make it unreadable. */
const OF_REQUEST: ReadonlySet<string> = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
])

/** Receives what a process does, and what the server says that belongs to no request. */
export interface ConnectHooks extends Omit<ChildEvents, 'onStray'>, Pick<RawRequestDeps, 'onNotice'> {}

export interface ConnectDeps extends Pick<RawRequestDeps, 'clock' | 'log'> {
  negotiated: NegotiationCache
  /** The hub's login at a server over HTTP; undefined if there is none, or if its entry's headers hold it. */
  authorization: Authorization | undefined
  version: string
  /** Milliseconds that connecting may take. */
  connectTimeout: number
  /** Milliseconds that a request may take without a result or progress. */
  callTimeout: number
  hooks: ConnectHooks
  /** Called when a stream that broke is opened again; notifications may have been missed. */
  onBroken: () => void
}

export interface Connected {
  client: Client
  requests: RawRequests
  /** Set if the server's tools may want arguments repeated in headers. */
  mirror: ArgumentMirror | undefined
  transport: 'stdio' | 'http' | 'sse'
}

/** The capabilities that a server may use while a call is in flight; its caller may be able to do less. */
const CAPABILITIES: ClientCapabilities = {
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
}

/**
 * Connects to a server of either era, over whichever transport it speaks. Throws the failure or the signal's
 * reason; nothing of the attempt is left then.
 */
export async function connectServer(
  spec: ServerSpec,
  deps: ConnectDeps,
  signal: AbortSignal,
): Promise<Connected> {
  const known = spec.era ?? (await deps.negotiated.read(spec))
  const tried: Mode[] = []
  let failure: unknown
  for (let mode: Mode | undefined = known; mode; ) {
    tried.push(mode)
    try {
      const connected = await attempt(spec, deps, signal, mode)
      if (mode === 'auto') await remember(spec, deps, connected.client.getProtocolEra() ?? 'legacy')
      else if (mode !== known) await remember(spec, deps, mode)
      return connected
    } catch (error) {
      // If no server is there, the failure over the older transport says no more than the first one.
      if (mode !== 'sse' || failure === undefined) failure = error
      mode = signal.aborted ? undefined : decideNextMode(spec, tried, error)
    }
  }
  throw failure
}

/** Saves what was found; a failure is only logged, because the server is then merely probed once more. */
async function remember(
  spec: ServerSpec,
  { negotiated, log }: ConnectDeps,
  verdict: Exclude<Mode, 'auto'>,
): Promise<void> {
  try {
    await negotiated.save(spec, verdict)
  } catch (error) {
    log.warn('era_not_saved', { verdict, error })
  }
}

async function attempt(
  spec: ServerSpec,
  deps: ConnectDeps,
  signal: AbortSignal,
  mode: Mode,
): Promise<Connected> {
  const { clock, log, hooks, connectTimeout: timeout } = deps
  const clientInfo = { name: 'superbloom', version: deps.version }
  const client = new Client(clientInfo, {
    capabilities: CAPABILITIES,
    versionNegotiation: {
      mode: mode === 'modern' ? { pin: MODERN } : 'auto',
      // A server that is tried in no other way may take the whole time for connecting to answer the probe.
      probe: { timeoutMs: mode === 'modern' ? timeout : PROBE_TIMEOUT_MS },
    },
  })
  signal.throwIfAborted()
  let strays = 0
  const onStray = (line: string) => {
    if (strays++ === 0) log.warn('no_message', { line, reason: 'standard output is for messages alone' })
  }
  const transport = createTransport(spec, mode, deps, onStray)
  const requests = new RawRequests(transport, {
    clock,
    log,
    timeout: deps.callTimeout,
    strays: () => strays,
    isOwn: spec.isolated === true,
    onNotice: hooks.onNotice,
  })
  // The client has no transport yet while the SDK probes, so closing the transport ends the attempt.
  const abort = () => void transport.close()
  signal.addEventListener('abort', abort, { once: true })
  try {
    const prior = mode === 'auto' || mode === 'modern' ? {} : { prior: { kind: 'legacy' as const } }
    await client.connect(requests.transport, { timeout, signal, ...prior })
  } catch (error) {
    await transport.close()
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', abort)
  }
  const isModern = client.getProtocolEra() === 'modern'
  const isHttp = transport instanceof StreamableHTTPClientTransport
  const mirror = isHttp && isModern ? createArgumentMirror() : undefined
  const post = isHttp ? toPost(spec, { ...deps, client, transport, mirror }) : undefined
  requests.use(post, isModern ? toEnvelope(client, clientInfo) : undefined)
  return { client, requests, mirror, transport: mode === 'sse' ? mode : spec.transport.kind }
}

/** Returns a function that builds what each request of 2026-07-28 says of its requester. */
function toEnvelope(client: Client, clientInfo: { name: string; version: string }) {
  const version = client.getNegotiatedProtocolVersion()
  return (requester: Requester | undefined): JsonObject => ({
    [PROTOCOL_VERSION_META_KEY]: version,
    [CLIENT_INFO_META_KEY]: clientInfo,
    [CLIENT_CAPABILITIES_META_KEY]: requester?.capabilities ?? CAPABILITIES,
    ...(requester?.logLevel === undefined ? {} : { [LOG_LEVEL_META_KEY]: requester.logLevel }),
  })
}

interface PostDeps
  extends Pick<ConnectDeps, 'clock' | 'authorization'>,
    Pick<Connected, 'client' | 'mirror'> {
  transport: StreamableHTTPClientTransport
}

function toPost(
  spec: ServerSpec,
  { client, transport, mirror, clock, authorization }: PostDeps,
): HttpPost | undefined {
  if (spec.transport.kind !== 'http') return undefined
  const ofEntry = ownHeaders(spec.transport.headers)
  const version = client.getNegotiatedProtocolVersion()
  const headers = (request?: JSONRPCRequest) => ({
    ...ofEntry,
    ...(version === undefined ? {} : { 'MCP-Protocol-Version': version }),
    ...(transport.sessionId === undefined ? {} : { 'Mcp-Session-Id': transport.sessionId }),
    ...(mirror && request ? headersOfRequest(mirror, request) : {}),
  })
  return createHttpPost({ clock, url: new URL(spec.transport.url), headers, authorization })
}

function headersOfRequest(mirror: ArgumentMirror, { method, params = {} }: JSONRPCRequest) {
  return { ...toStandardHeaders(method, params), ...mirror.headersOf(method, params) }
}

function createTransport(
  { transport }: ServerSpec,
  mode: Mode,
  { clock, authorization, hooks, onBroken }: ConnectDeps,
  onStray: (line: string) => void,
): Transport {
  if (transport.kind === 'stdio') return createStdioTransport(transport, clock, { ...hooks, onStray })
  const create = mode === 'sse' ? createSseTransport : createStreamableTransport
  const address = { ...transport, headers: ownHeaders(transport.headers) }
  return create(address, { clock, authorization, onGone: hooks.onGone, onBroken })
}

/** Returns the headers that an entry adds to each request. */
function ownHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_REQUEST.has(name.toLowerCase())))
}
