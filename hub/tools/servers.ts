import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import type { UpstreamHealth } from '../../schemas/health.ts'
import { describeError, HubError } from '../core/errors.ts'
import type { CallOptions, Connection, ConnectionDeps } from './connection.ts'
import type { DesiredServers } from './decide-servers.ts'
import { type NamedTool, nameTools } from './names.ts'
import { createPool } from './pool.ts'
import type { ServerSpec } from './server-spec.ts'

/** A tool of some server under the name that it has in the hub. */
export interface CatalogueTool extends NamedTool {
  definition: Tool
  /** Its server's name and what that says of itself. */
  about: string
}

export interface ServerStatus {
  name: string
  state: 'starting' | 'ready' | 'down' | 'not_running'
  origin: ServerSpec['origin']
  transport?: 'stdio' | 'http'
  era?: 'legacy' | 'modern'
  tools: number
  error?: string
  nextTryAt?: number
  collisions?: string[]
}

/** All servers below the hub, and their tools as one catalogue. Who opens it disposes of it. */
export interface Servers extends AsyncDisposable {
  /** Starts what is new, ends what is gone, starts anew what changed; the others go on undisturbed. Waits for none. */
  apply(desired: DesiredServers): void
  /** In a stable order. */
  readonly catalogue: readonly CatalogueTool[]
  find(name: string): CatalogueTool | undefined
  /** Waits for servers that start and may have a tool of this name. */
  untilListed(name: string, signal?: AbortSignal): Promise<void>
  /**
   * Throws `not_found` for a name that the catalogue lacks, `unavailable` while its server is down; waits for servers
   * that start.
   */
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>
  status(): ServerStatus[]
  /** What the servers that are ready say of the programs behind them, by server. Never rejects. */
  health(): Promise<ReadonlyMap<string, UpstreamHealth[]>>
  /** Every server is ready or has failed once. */
  readonly settled: boolean
}

export interface ServersDeps extends Omit<ConnectionDeps, 'onChange'> {
  /** Names that no server's tool may have. */
  taken: ReadonlySet<string>
  onChange: (change: { toolsChanged: boolean }) => void
}

export function openServers(deps: ServersDeps): Servers {
  const tried = new Set<string>()
  let losers: DesiredServers['losers'] = []
  let catalogue: CatalogueTool[] = []
  let byName = new Map<string, CatalogueTool>()
  let signature = ''

  const rebuild = () => {
    const present = pool.all ?? []
    for (const { spec, status } of present) if (status.state !== 'starting') tried.add(spec.name)
    catalogue = buildCatalogue(present, deps.taken)
    byName = new Map(catalogue.map(tool => [tool.name, tool]))
    const next = JSON.stringify(catalogue)
    const toolsChanged = next !== signature
    signature = next
    deps.onChange({ toolsChanged })
  }
  const pool = createPool({ ...deps, onChange: rebuild })
  /** A client may know a tool from before a restart of the hub: waits for the servers that may have it. */
  const untilListed = async (name: string, signal?: AbortSignal) => {
    if (byName.has(name)) return
    const mayHave = ({ spec, status, tools }: Connection) =>
      status.state === 'starting' && tools.length === 0 && name.startsWith(spec.prefix)
    await Promise.all((pool.all ?? []).filter(mayHave).map(connection => connection.untilSettled(signal)))
  }
  return {
    get catalogue() {
      return catalogue
    },
    get settled() {
      return pool.all?.every(({ spec }) => tried.has(spec.name)) ?? false
    },
    find: name => byName.get(name),
    untilListed,
    apply(desired) {
      losers = desired.losers
      pool.apply(desired.specs)
      rebuild()
    },
    async call(name, args, options) {
      await untilListed(name, options?.signal)
      const tool = byName.get(name)
      const connection = tool && pool.find(tool.server)
      if (!connection) throw new HubError('not_found', `There is no tool ${name}`)
      return connection.call(tool.original, args, options)
    },
    status: () => [
      ...(pool.all ?? []).map(connection => describe(connection, catalogue)),
      ...losers.map(loser => ({
        name: loser.name,
        state: 'not_running' as const,
        origin: loser.origin,
        tools: 0,
        error: loser.reason,
      })),
    ],
    async health() {
      const ready = (pool.all ?? []).filter(({ status }) => status.state === 'ready')
      return new Map(await Promise.all(ready.map(async one => [one.spec.name, await toHealth(one)] as const)))
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

/** A server that does not tell in time stands for what is behind it. */
async function toHealth(connection: Connection): Promise<UpstreamHealth[]> {
  const { name } = connection.spec
  try {
    return (await connection.readHealth())?.upstreams ?? []
  } catch (error) {
    return [{ name, kind: 'server', address: '', ok: false, reason: describeError(error) }]
  }
}

function buildCatalogue(connections: readonly Connection[], taken: ReadonlySet<string>): CatalogueTool[] {
  const named = nameTools(
    connections.map(({ spec, tools }) => ({
      server: spec.name,
      prefix: spec.prefix,
      tools: tools.map(tool => tool.name),
    })),
    taken,
  )
  const parts = connections.flatMap(({ spec, tools, instructions }) =>
    tools.map(definition => ({ definition, about: `${spec.name} ${instructions}` })),
  )
  return named.flatMap((tool, index) => {
    const part = parts[index]
    if (!part) return []
    return [{ ...tool, about: part.about, definition: { ...part.definition, name: tool.name } }]
  })
}

function describe({ spec, status, tools }: Connection, catalogue: CatalogueTool[]): ServerStatus {
  const collisions = catalogue.flatMap(tool => (tool.server === spec.name && tool.collision) || [])
  return {
    name: spec.name,
    state: status.state,
    origin: spec.origin,
    transport: spec.transport.kind,
    tools: tools.length,
    ...(status.state === 'ready' ? { era: status.era } : {}),
    ...(status.state !== 'ready' && status.error !== undefined ? { error: status.error } : {}),
    ...(status.state === 'down' ? { nextTryAt: status.nextTryAt } : {}),
    ...(collisions.length > 0 ? { collisions } : {}),
  }
}
