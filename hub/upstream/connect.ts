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
import type { Clock } from '../core/clock.ts'
import type { Asker, JsonObject } from '../core/forwarding.ts'
import { createHttpPost, type HttpPost } from './http/http-post.ts'
import { createSseTransport, createStreamableTransport } from './http/http-transports.ts'
import { type ArgumentMirror, createArgumentMirror, toStandardHeaders } from './http/param-headers.ts'
import type { Authorization } from './oauth/authorization.ts'
import type { ServerSpec } from './server-spec.ts'
import { type ChildEvents, createStdioTransport } from './stdio/stdio-transport.ts'
import { decideNextWay, type Verdict, type Way } from './ways.ts'
import { Wire, type WireDeps } from './wire.ts'

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

/** Remembers how a server is spoken with, so that the next start does not probe it. */
export interface EraMemory {
  read(spec: ServerSpec): Promise<Way>
  save(spec: ServerSpec, verdict: Verdict): Promise<void>
}

export interface ConnectDeps extends Pick<WireDeps, 'clock' | 'log'> {
  eras: EraMemory
  /** The hub's login at a server over HTTP; undefined if there is none, or if its entry's headers hold it. */
  authorization: Authorization | undefined
  version: string
  /** Milliseconds that connecting may take. */
  timeout: number
  /** Milliseconds that a request may take without a result or progress. */
  callTimeout: number
  told: Omit<ChildEvents, 'onStray'>
  hooks: Pick<WireDeps, 'onNotice'>
}

export interface Connected {
  client: Client
  wire: Wire
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
  onBroken: () => void,
  signal: AbortSignal,
): Promise<Connected> {
  const known = spec.era ?? (await deps.eras.read(spec))
  const tried: Way[] = []
  let failure: unknown
  for (let way: Way | undefined = known; way; ) {
    tried.push(way)
    try {
      const connected = await attempt(spec, deps, onBroken, signal, way)
      if (way !== known || way === 'auto') await remember(spec, deps, verdictOf(connected.client, way))
      return connected
    } catch (error) {
      // If no server is there, the failure over the older transport says no more than the first one.
      if (way !== 'sse' || failure === undefined) failure = error
      way = signal.aborted ? undefined : decideNextWay(spec, tried, error)
    }
  }
  throw failure
}

/** Saves the verdict; a failure is only logged, because the server is then merely probed once more. */
async function remember(spec: ServerSpec, { eras, log }: ConnectDeps, verdict: Verdict): Promise<void> {
  try {
    await eras.save(spec, verdict)
  } catch (error) {
    log.warn('era_not_saved', { verdict, error })
  }
}

function verdictOf(client: Client, way: Way): Verdict {
  if (way === 'auto') return client.getProtocolEra() === 'modern' ? 'modern' : 'legacy'
  return way
}

async function attempt(
  spec: ServerSpec,
  deps: ConnectDeps,
  onBroken: () => void,
  signal: AbortSignal,
  way: Way,
): Promise<Connected> {
  const clientInfo = { name: 'superbloom', version: deps.version }
  const client = new Client(clientInfo, {
    capabilities: CAPABILITIES,
    versionNegotiation: {
      mode: way === 'modern' ? { pin: MODERN } : 'auto',
      // A server that is tried in no other way may take the whole time for connecting to answer the probe.
      probe: { timeoutMs: way === 'modern' ? deps.timeout : PROBE_TIMEOUT_MS },
    },
  })
  signal.throwIfAborted()
  let strays = 0
  const onStray = (line: string) => {
    if (strays++ === 0) deps.log.warn('no_message', { line, reason: 'standard output is for messages alone' })
  }
  const transport = createTransport(spec, way, { ...deps, told: { ...deps.told, onStray } }, onBroken)
  const wire = new Wire(transport, {
    clock: deps.clock,
    log: deps.log,
    timeout: deps.callTimeout,
    strays: () => strays,
    isOwn: spec.isolated === true,
    onNotice: deps.hooks.onNotice,
  })
  // The client has no transport yet while the SDK probes, so closing the transport ends the attempt.
  const abort = () => void transport.close()
  signal.addEventListener('abort', abort, { once: true })
  try {
    const prior = way === 'auto' || way === 'modern' ? {} : { prior: { kind: 'legacy' as const } }
    await client.connect(wire.transport, { timeout: deps.timeout, signal, ...prior })
  } catch (error) {
    await transport.close()
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', abort)
  }
  const isModern = client.getProtocolEra() === 'modern'
  const isHttp = transport instanceof StreamableHTTPClientTransport
  const mirror = isHttp && isModern ? createArgumentMirror() : undefined
  const { clock, authorization } = deps
  const post = isHttp ? toPost(spec, { client, transport, mirror, clock, authorization }) : undefined
  wire.use(post, isModern ? toEnvelope(client, clientInfo) : undefined)
  return { client, wire, mirror, transport: way === 'sse' ? way : spec.transport.kind }
}

/** Returns a function that builds what each request of 2026-07-28 says of its requester. */
function toEnvelope(client: Client, clientInfo: { name: string; version: string }) {
  const version = client.getNegotiatedProtocolVersion()
  return (asker: Asker | undefined): JsonObject => ({
    [PROTOCOL_VERSION_META_KEY]: version,
    [CLIENT_INFO_META_KEY]: clientInfo,
    [CLIENT_CAPABILITIES_META_KEY]: asker?.capabilities ?? CAPABILITIES,
    ...(asker?.logLevel === undefined ? {} : { [LOG_LEVEL_META_KEY]: asker.logLevel }),
  })
}

interface PostDeps {
  client: Client
  transport: StreamableHTTPClientTransport
  mirror: ArgumentMirror | undefined
  clock: Clock
  authorization: Authorization | undefined
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
  spec: ServerSpec,
  way: Way,
  deps: Pick<ConnectDeps, 'clock' | 'authorization'> & { told: ChildEvents },
  onBroken: () => void,
): Transport {
  const { transport } = spec
  const { clock, told, authorization } = deps
  switch (transport.kind) {
    case 'stdio':
      return createStdioTransport(transport, clock, told)
    case 'http': {
      const create = way === 'sse' ? createSseTransport : createStreamableTransport
      const address = { ...transport, headers: ownHeaders(transport.headers) }
      return create(address, { clock, authorization, onGone: told.onGone, onBroken })
    }
    default:
      throw new Error(`No such transport: ${JSON.stringify(transport satisfies never)}`)
  }
}

/** Returns the headers that an entry adds to each request. */
function ownHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_REQUEST.has(name.toLowerCase())))
}
