import {
  Client,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type PriorDiscovery,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Clock } from '../core/clock.ts'
import type { ServerSpec } from './server-spec.ts'
import { type ChildEvents, createStdioTransport } from './stdio-transport.ts'

/** A silent stdio server counts as a legacy one after this long. */
const PROBE_TIMEOUT_MS = 3_000

/** What is remembered of a server's era, so that the next start does not probe. */
export interface EraMemory {
  read(spec: ServerSpec): Promise<PriorDiscovery | undefined>
  save(spec: ServerSpec, verdict: PriorDiscovery): Promise<void>
}

export interface ConnectDeps {
  clock: Clock
  eras: EraMemory
  version: string
  /** Milliseconds that a connection may take. */
  timeout: number
  told: ChildEvents
}

export interface ConnectHooks {
  /** Sets handlers before anything arrives. */
  prepare(client: Client): void
  /** A stream over HTTP broke and is opened again; what it would have told may be missed. */
  onBroken(client: Client): void
}

/** The hub forwards results as they are: who asked for them checks them against the tool's output schema. */
const forwardUnchecked: jsonSchemaValidator = {
  getValidator: <Value>() => {
    const forward: JsonSchemaValidator<Value> = input => ({
      valid: true,
      data: input as Value,
      errorMessage: undefined,
    })
    return forward
  },
}

/**
 * Connects to a server of either era. Throws what went wrong, or the signal's reason; nothing of the attempt is left
 * then.
 */
export async function connectServer(
  spec: ServerSpec,
  deps: ConnectDeps,
  hooks: ConnectHooks,
  signal: AbortSignal,
): Promise<Client> {
  const prior = await deps.eras.read(spec)
  try {
    const client = await attempt(spec, deps, hooks, signal, prior)
    if (!prior) await deps.eras.save(spec, verdictOf(client))
    return client
  } catch (error) {
    // A server that ends or errs when probed may still be a legacy one: some exit on anything before `initialize`.
    if (signal.aborted || prior?.kind === 'legacy' || !mayBeLegacy(spec, error)) throw error
    const legacy: PriorDiscovery = { kind: 'legacy' }
    const client = await attempt(spec, deps, hooks, signal, legacy)
    await deps.eras.save(spec, legacy)
    return client
  }
}

function mayBeLegacy(spec: ServerSpec, error: unknown): boolean {
  if (!(error instanceof SdkError)) return false
  if (error.code === SdkErrorCode.EraNegotiationFailed) return true
  return spec.transport.kind === 'stdio' && error.code === SdkErrorCode.ConnectionClosed
}

function verdictOf(client: Client): PriorDiscovery {
  const discover = client.getDiscoverResult()
  return discover ? { kind: 'modern', discover } : { kind: 'legacy' }
}

async function attempt(
  spec: ServerSpec,
  deps: ConnectDeps,
  hooks: ConnectHooks,
  signal: AbortSignal,
  prior: PriorDiscovery | undefined,
): Promise<Client> {
  const client = new Client(
    { name: 'superbloom', version: deps.version },
    {
      capabilities: {},
      jsonSchemaValidator: forwardUnchecked,
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: PROBE_TIMEOUT_MS } },
    },
  )
  hooks.prepare(client)
  signal.throwIfAborted()
  const transport = createTransport(spec, deps, () => hooks.onBroken(client))
  // While the SDK probes, the client does not hold its transport yet: closing that is what ends the attempt.
  const abort = () => void transport.close()
  signal.addEventListener('abort', abort, { once: true })
  try {
    await client.connect(transport, { timeout: deps.timeout, signal, ...(prior ? { prior } : {}) })
    return client
  } catch (error) {
    await transport.close()
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function createTransport(spec: ServerSpec, deps: ConnectDeps, onBroken: () => void): Transport {
  switch (spec.transport.kind) {
    case 'stdio':
      return createStdioTransport(spec.transport, deps.clock, deps.told)
    case 'http':
      return new StreamableHTTPClientTransport(new URL(spec.transport.url), {
        requestInit: { headers: spec.transport.headers },
        reconnectionScheduler: (reconnect, delay) =>
          deps.clock.after(delay, () => {
            reconnect()
            onBroken()
          }),
      })
    default:
      throw new Error(`No such transport: ${JSON.stringify(spec.transport satisfies never)}`)
  }
}
