import type { ServerEntry } from '../../schemas/config.ts'
import type { Clock } from '../core/clock.ts'
import { describeUncontained } from '../core/describe-uncontained.ts'
import { HubError } from '../core/errors.ts'
import type { JsonObject, OfferChange } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import { readNameOwners, saveNameOwners } from '../store/hub-state.ts'
import type { Store } from '../store/open.ts'
import type { Connection } from '../upstream/connection.ts'
import { type BuiltIn, decideServers, type ServerSources } from '../upstream/decide-servers.ts'
import { readDropIns } from '../upstream/drop-ins.ts'
import { createNegotiationCache } from '../upstream/negotiation.ts'
import { type Authorizations, createAuthorizations } from '../upstream/oauth/authorizations.ts'
import { openCredentialStore } from '../upstream/oauth/credentials.ts'
import type { ServerSpec } from '../upstream/server-spec.ts'
import { openChildGuard } from '../upstream/stdio/child-guard.ts'
import type { Sandbox } from '../upstream/stdio/sandbox.ts'
import type { TakenNames } from './catalogue.ts'
import { openServers, type Servers } from './servers.ts'

const CONNECT_TIMEOUT_MS = 30_000
const CALL_TIMEOUT_MS = 120_000
/** Milliseconds between two checks of a drop-in that is refused because others can write to its files. */
const LOOK_AGAIN_MS = 1_000

export interface ServerToolsDeps {
  clock: Clock
  random: () => number
  log: Log
  store: Store
  version: string
  /** Names that no server's tool or prompt may have. */
  taken: TakenNames
  longestName: () => number
  builtIns: readonly BuiltIn[]
  loader: string
  sandbox: Sandbox
  /** The folder that has the logins of an earlier version. */
  dataFolder: string
  dropInsFolder: string
  /** Returns what the config file says of servers. */
  configured: () => Pick<ServerSources, 'configured' | 'held' | 'writtenNames'>
  childEnvironment: (prefixes?: readonly string[]) => Record<string, string>
  /** Reads the file of an entry; throws what is wrong with it. */
  readEntry: (file: string) => ServerEntry
  onChange: (change: OfferChange) => void
  onEvents: (connection: Connection) => void
  /** Called when a subscribed resource changed, or may have. */
  onUpdated: (uri: string) => void
  /** Called with a log message, or the end of an elicitation by URL, that belongs to no request. */
  onNotice: (server: string, method: string, params: JsonObject) => void
}

/** The hub's servers; `refresh` decides anew which ones run. */
export interface ServerTools extends AsyncDisposable {
  readonly servers: Servers
  readonly logins: ServerLogins
  refresh(): void
}

/** The logins of people at servers over HTTP. */
export interface ServerLogins extends Pick<Authorizations, 'finish' | 'look' | 'forget'> {
  /** Begins a login. Throws `not_found`, `conflict` and `unavailable` that say why nobody can log in. */
  begin(server: string, redirectUrl: string): Promise<{ state: string; url: string }>
}

export async function createServerTools(deps: ServerToolsDeps): Promise<ServerTools> {
  const credentials = await openCredentialStore(deps)
  const guard = openChildGuard(deps.log)
  const { clock, log } = deps
  const onChange = (server: string) => {
    if (!disposed) servers.renew(server)
  }
  const authorizations = createAuthorizations({ clock, log, credentials, onChange })
  const servers = openServers({
    ...deps,
    guard,
    authorizations,
    negotiated: createNegotiationCache(deps.store, deps.clock),
    connectTimeout: CONNECT_TIMEOUT_MS,
    callTimeout: CALL_TIMEOUT_MS,
    confirm: () => deps.store.confirm(),
    names: {
      read: () => readNameOwners(deps.store.db),
      save: owners => deps.store.write(tx => saveNameOwners(tx, owners)),
    },
  })
  const warnOfUncontained = createUncontainedWarning(log)
  let applied = ''
  let cancelLook: (() => void) | undefined
  let disposed = false
  const refresh = () => {
    if (disposed) return
    cancelLook?.()
    const dropIns = readDropIns(deps.dropInsFolder, deps.readEntry)
    const desired = decideServers({
      builtIns: deps.builtIns,
      ...deps.configured(),
      dropIns,
      node: process.execPath,
      loader: deps.loader,
      sandbox: deps.sandbox,
      childEnvironment: deps.childEnvironment,
    })
    // File watchers do not report a chmod, so a timer looks again.
    cancelLook = dropIns.some(({ kind }) => kind === 'open')
      ? deps.clock.after(LOOK_AGAIN_MS, refresh)
      : undefined
    const next = JSON.stringify([desired, deps.longestName()])
    if (next === applied) return
    applied = next
    for (const { replaced, ...loser } of desired.losers) {
      if (replaced) deps.log.info('server_replaced', loser)
      else deps.log.warn('server_not_running', loser)
    }
    warnOfUncontained(desired.specs)
    servers.apply(desired)
  }
  return {
    servers,
    logins: toLogins(servers, authorizations),
    refresh,
    async [Symbol.asyncDispose]() {
      disposed = true
      cancelLook?.()
      await servers[Symbol.asyncDispose]()
      await authorizations[Symbol.asyncDispose]()
      await guard[Symbol.asyncDispose]()
    },
  }
}

/** Returns a function that logs once which servers run without the sandbox that they should have. */
function createUncontainedWarning(log: Log) {
  let isWarned = false
  return (specs: readonly ServerSpec[]) => {
    const [message] = describeUncontained(specs)
    if (message === undefined || isWarned) return
    isWarned = true
    log.warn('servers_not_contained', { message })
  }
}

function toLogins(servers: Servers, { begin, finish, look, forget }: Authorizations): ServerLogins {
  return {
    async begin(server, redirectUrl) {
      const spec = servers.specOf(server)
      if (!spec) throw new HubError('not_found', `There is no server ${server} that runs`)
      return begin(spec, redirectUrl)
    },
    finish,
    look,
    forget,
  }
}
