import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import { HubError } from '../core/errors.ts'
import { type CallOptions, Connection, type ConnectionDeps } from './connection.ts'
import type { DesiredServers } from './decide-servers.ts'
import { type NamedTool, nameTools } from './names.ts'
import { type ServerSpec, specHash } from './server-spec.ts'

/** A tool of some server under the name that it has in the hub. */
export interface CatalogueTool extends NamedTool {
  definition: Tool
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
  /** Starts what is new, ends what is gone, starts anew what changed; the others go on undisturbed. */
  apply(desired: DesiredServers): Promise<void>
  /** In a stable order. */
  readonly catalogue: readonly CatalogueTool[]
  find(name: string): CatalogueTool | undefined
  /** Throws `not_found` for a name that the catalogue lacks, `unavailable` while its server is down. */
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>
  status(): ServerStatus[]
  /** Every server is ready or has failed once. */
  readonly settled: boolean
}

export interface ServersDeps extends Omit<ConnectionDeps, 'onChange'> {
  /** Names that no server's tool may have. */
  taken: ReadonlySet<string>
  onChange: (change: { toolsChanged: boolean }) => void
}

export function openServers(deps: ServersDeps): Servers {
  const connections = new Map<string, { hash: string; connection: Connection }>()
  const failedOnce = new Set<string>()
  let order: string[] = []
  let losers: DesiredServers['losers'] = []
  let catalogue: CatalogueTool[] = []
  let byName = new Map<string, CatalogueTool>()
  let signature = ''

  const rebuild = () => {
    const present = order.flatMap(name => connections.get(name)?.connection ?? [])
    for (const { spec, status } of present) if (status.state !== 'starting') failedOnce.add(spec.name)
    catalogue = buildCatalogue(present, deps.taken)
    byName = new Map(catalogue.map(tool => [tool.name, tool]))
    const next = JSON.stringify(catalogue)
    const toolsChanged = next !== signature
    signature = next
    deps.onChange({ toolsChanged })
  }

  return {
    get catalogue() {
      return catalogue
    },
    get settled() {
      return order.every(name => failedOnce.has(name))
    },
    find: name => byName.get(name),
    async apply(desired) {
      order = desired.specs.map(spec => spec.name)
      losers = desired.losers
      const hashes = new Map(desired.specs.map(spec => [spec.name, specHash(spec)]))
      const ending = [...connections].filter(([name, { hash }]) => hashes.get(name) !== hash)
      for (const [name] of ending) connections.delete(name)
      for (const spec of desired.specs) {
        if (connections.has(spec.name)) continue
        const connection = new Connection(spec, { ...deps, onChange: rebuild })
        connections.set(spec.name, { hash: specHash(spec), connection })
      }
      rebuild()
      await Promise.all(ending.map(([, { connection }]) => connection[Symbol.asyncDispose]()))
    },
    async call(name, args, options) {
      const tool = byName.get(name)
      const entry = tool && connections.get(tool.server)
      if (!tool || !entry) throw new HubError('not_found', `There is no tool ${name}`)
      return entry.connection.call(tool.original, args, options)
    },
    status: () => [
      ...order.flatMap(name => connections.get(name)?.connection ?? []).map(c => describe(c, catalogue)),
      ...losers.map(loser => ({
        name: loser.name,
        state: 'not_running' as const,
        origin: loser.origin,
        tools: 0,
        error: loser.reason,
      })),
    ],
    async [Symbol.asyncDispose]() {
      const all = [...connections.values()]
      connections.clear()
      order = []
      await Promise.all(all.map(({ connection }) => connection[Symbol.asyncDispose]()))
    },
  }
}

function buildCatalogue(connections: Connection[], taken: ReadonlySet<string>): CatalogueTool[] {
  const named = nameTools(
    connections.map(({ spec, tools }) => ({
      server: spec.name,
      prefix: spec.prefix,
      tools: tools.map(tool => tool.name),
    })),
    taken,
  )
  const definitions = connections.flatMap(connection => connection.tools)
  return named.flatMap((tool, index) => {
    const definition = definitions[index]
    return definition ? [{ ...tool, definition: { ...definition, name: tool.name } }] : []
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
    ...(status.state === 'down' ? { error: status.error, nextTryAt: status.nextTryAt } : {}),
    ...(collisions.length > 0 ? { collisions } : {}),
  }
}
