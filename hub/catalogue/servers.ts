import type { Tool } from '@modelcontextprotocol/client'
import type { UpstreamHealth } from '../../schemas/health.ts'
import type { ToolRules } from '../../schemas/tool-rules.ts'
import type { Clock } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import type { OfferChange } from '../core/forwarding.ts'
import { truncate } from '../core/text.ts'
import { isTaken } from '../core/tool-rules.ts'
import type { Connection, ConnectionDeps } from '../upstream/connection.ts'
import type { Spoken } from '../upstream/connection-state.ts'
import type { DesiredServers } from '../upstream/decide-servers.ts'
import { readHealth } from '../upstream/health.ts'
import { Pool } from '../upstream/pool.ts'
import type { ServerLogLine } from '../upstream/server-log.ts'
import type { ServerSpec } from '../upstream/server-spec.ts'
import type { Catalogue } from './catalogue.ts'
import { type LiveCatalogueDeps, openCatalogue } from './live-catalogue.ts'
import { toToolName } from './names.ts'
import { createRequests, type ServerRequests } from './server-requests.ts'
import { whyMissing } from './why-missing.ts'

export interface ServerStatus {
  name: string
  state: 'starting' | 'ready' | 'degraded' | 'down' | 'disabled' | 'replaced' | 'not_running'
  origin: ServerSpec['origin']
  transport?: Spoken['transport']
  era?: 'legacy' | 'modern'
  tools: number
  /** Its name in the config or of its folder, if that is no valid server name. */
  writtenAs?: string
  /** Why it runs without the sandbox that it should have. */
  uncontained?: string
  /** Number of sessions that have their own connection. */
  sessions?: number
  error?: string
  nextTryAt?: number
  collisions?: string[]
  leftOut?: string[]
}

/** A tool of a server, with its name in the hub, and as the server lists it. */
export interface OfferedTool {
  name: string
  isTaken: boolean
  definition: Tool
}

/** The upstream servers, and what they offer as one catalogue. The opener disposes of it. */
export interface Servers
  extends ServerRequests,
    Pick<Pool, 'setLogLevel' | 'rootsChanged' | 'endSession'>,
    AsyncDisposable {
  /** Starts new servers, ends removed ones and replaces changed ones; the others go on. Waits for none. */
  apply(desired: DesiredServers): void
  /** Connects to a server anew; calls in flight finish. */
  renew(name: string): void
  /** Returns what a server offers, also the tools that the hub does not take; none of one that does not run. */
  toolsOf(name: string): OfferedTool[]
  /** Returns the end of a server's log. */
  logOf(name: string): readonly ServerLogLine[]
  /** Returns the spec of a server; undefined if it does not run. */
  specOf(name: string): ServerSpec | undefined
  readonly catalogue: Catalogue
  /** Reports changes of these resources from now on, and of no others, whichever server may have them. */
  subscribe(uris: ReadonlySet<string>): void
  status(): ServerStatus[]
  /** Returns by server what the connected ones say of the programs behind them. Never rejects. */
  health(): Promise<ReadonlyMap<string, UpstreamHealth[]>>
  /** True once every server is ready or has failed once. */
  readonly settled: boolean
}

export interface ServersDeps extends Omit<ConnectionDeps, 'onChange'>, Omit<LiveCatalogueDeps, 'toolRules'> {
  onChange: (change: OfferChange) => void
  /** Resolves if this hub may still act on its servers. */
  confirm: () => Promise<void>
}

export function openServers(deps: ServersDeps): Servers {
  const tried = new Set<string>()
  let resting: Omit<DesiredServers, 'specs'> = { disabled: [], losers: [], tools: {} }
  let subscribed: ReadonlySet<string> = new Set()

  const all = () => pool.all ?? []
  const rebuild = () => {
    for (const { spec, status } of all()) if (status.state !== 'starting') tried.add(spec.name)
    try {
      const change = live.look(pool.all)
      assignSubscriptions()
      deps.onChange(change)
    } catch (error) {
      // `rebuild` is called for whatever happens to a connection, which must go on all the same.
      deps.log.error('catalogue_not_built', { error })
    }
  }
  const pool = new Pool({ ...deps, onChange: rebuild })
  const live = openCatalogue({ ...deps, toolRules: () => resting.tools }, rebuild)
  const assignSubscriptions = () => assign(subscribed, all(), live.catalogue)
  const requests = createRequests({
    all,
    use: (name, run, options) => pool.use(name, run, options),
    whyMissing: name => whyMissing(name, all(), resting),
    confirm: deps.confirm,
    get catalogue() {
      return live.catalogue
    },
  })
  return {
    get catalogue() {
      return live.catalogue
    },
    get settled() {
      return pool.all?.every(({ spec }) => tried.has(spec.name)) ?? false
    },
    ...requests,
    apply(desired) {
      resting = desired
      pool.apply(desired.specs)
      rebuild()
    },
    renew(name) {
      pool.renew(name)
      rebuild()
    },
    toolsOf: name =>
      listTools(
        all().find(({ spec }) => spec.name === name),
        live.catalogue,
        deps.longestName(),
      ),
    logOf: name => pool.logOf(name),
    specOf: name => all().find(({ spec }) => spec.name === name)?.spec,
    subscribe(uris) {
      subscribed = uris
      assignSubscriptions()
    },
    setLogLevel: level => pool.setLogLevel(level),
    rootsChanged: () => pool.rootsChanged(),
    endSession: session => pool.endSession(session),
    status: () => [
      ...all().map(one => describe(one, live.catalogue, pool.sessionsOf(one), resting.tools[one.spec.name])),
      ...resting.disabled.map(describeDisabled),
      ...resting.losers.map(describeLoser),
    ],
    async health() {
      const there = all().filter(({ status }) => status.state === 'ready' || status.state === 'degraded')
      return new Map(await Promise.all(there.map(one => toHealth(one, deps.clock))))
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

/** Tells each connection which of the subscribed resources it has. */
function assign(
  subscribed: ReadonlySet<string>,
  connections: readonly Connection[],
  catalogue: Catalogue,
): void {
  const isComplete = connections.every(isHeard)
  const owned = [...subscribed].map(uri => ({
    uri,
    owners: isComplete ? catalogue.ownersOf(uri) : catalogue.knownOwnersOf(uri),
  }))
  for (const connection of connections) {
    // Until every server was heard of, a resource that none lists stays where it is subscribed.
    const wanted = owned.filter(({ uri, owners }) =>
      isComplete || owners.length > 0 ? owners.includes(connection.spec.name) : connection.wanted.has(uri),
    )
    connection.subscribe(new Set(wanted.map(({ uri }) => uri)))
  }
}

/** Lists what a server offers, with the names that the hub gives, or would give, its tools. */
function listTools(connection: Connection | undefined, { tools }: Catalogue, longest: number): OfferedTool[] {
  if (!connection) return []
  const { spec, offer } = connection
  const own = tools.filter(({ server }) => server === spec.name)
  const named = new Map(own.map(({ original, name }) => [original, name]))
  return offer.tools.map(definition => ({
    name: named.get(definition.name) ?? toToolName(`${spec.prefix}${definition.name}`, longest),
    isTaken: named.has(definition.name),
    definition,
  }))
}

/** Reads the health of a server's programs; a server that fails to report is itself listed as not healthy. */
async function toHealth(connection: Connection, clock: Clock): Promise<[string, UpstreamHealth[]]> {
  const { name } = connection.spec
  try {
    return [name, (await readHealth(connection, clock))?.upstreams ?? []]
  } catch (error) {
    return [name, [{ name, kind: 'server', address: '', ok: false, reason: describeError(error) }]]
  }
}

/** Tells whether a server was ready or has failed once. */
function isHeard({ status }: Connection): boolean {
  return status.state !== 'starting' || status.error !== undefined
}

function describeDisabled({ name, origin, transport }: ServerSpec): ServerStatus {
  return { name, state: 'disabled', origin, transport: transport.kind, tools: 0 }
}

function describeLoser({ name, origin, reason, replaced }: DesiredServers['losers'][number]): ServerStatus {
  return { name, state: replaced ? 'replaced' : 'not_running', origin, tools: 0, error: reason }
}

/** The most left-out entries that a status shows, and the most characters of each. */
const MOST_LEFT_OUT = 10
const LONGEST_LEFT_OUT = 200

function listLeftOut(all: readonly string[]): string[] {
  const shown = all.slice(0, MOST_LEFT_OUT).map(each => truncate(each, LONGEST_LEFT_OUT))
  const rest = all.length - shown.length
  return rest > 0 ? [...shown, `${rest} more, which the log has`] : shown
}

function describe(
  connection: Connection,
  catalogue: Catalogue,
  sessions: number,
  rules: ToolRules | undefined,
): ServerStatus {
  const { spec, status, offer } = connection
  const leftOut = listLeftOut(connection.leftOut)
  const named = [...catalogue.tools, ...catalogue.prompts].filter(({ server }) => server === spec.name)
  const hidden = catalogue.hidden.filter(({ server }) => server === spec.name)
  const collisions = [
    ...named.flatMap(({ collision }) => collision ?? []),
    ...hidden.map(({ uri, owner }) => `${uri} is ${owner}'s`),
  ]
  return {
    name: spec.name,
    state: status.state,
    origin: spec.origin,
    transport: 'transport' in status ? status.transport : spec.transport.kind,
    tools: offer.tools.filter(({ name }) => isTaken(rules, name)).length,
    ...(spec.writtenAs === undefined ? {} : { writtenAs: spec.writtenAs }),
    ...('era' in status ? { era: status.era } : {}),
    ...(spec.isolated ? { sessions } : {}),
    ...(spec.uncontained === undefined ? {} : { uncontained: spec.uncontained }),
    ...('error' in status ? { error: status.error } : {}),
    ...('nextTryAt' in status ? { nextTryAt: status.nextTryAt } : {}),
    ...(collisions.length > 0 ? { collisions } : {}),
    ...(leftOut.length > 0 ? { leftOut } : {}),
  }
}
