import { resolve } from 'node:path'
import { memoryToBytes, type OAuthEntry, type ServerEntry } from '../../schemas/config.ts'
import { limitToMilliseconds } from '../../schemas/duration.ts'
import type { ToolRules } from '../../schemas/tool-rules.ts'
import type { DropIn } from './drop-ins.ts'
import type { OAuthSettings, ServerSpec } from './server-spec.ts'
import { needsPrivileges, type Sandbox } from './stdio/sandbox.ts'

/** A server that comes with the hub. */
export interface BuiltIn {
  name: string
  /** The program, run by the same Node as the hub. */
  file: string
  /** True if it runs even when nothing is configured. */
  always: boolean
  /** Prefixes of its variables in the hub's environment: "RADARR_", "SONARR_". */
  envPrefixes: readonly string[]
  /**
   * Names of variables that make it run, besides those of its prefixes that end in `_URL`; they must begin
   * with one of the prefixes, else the child does not see them. Each may come as its `NAME_FILE` twin.
   */
  decidedBy?: readonly string[]
  /** Prefixes of further variables that it sees; they are shared with other servers and make nothing run. */
  alsoSees?: readonly string[]
}

export interface ServerSources {
  builtIns: readonly BuiltIn[]
  configured: Readonly<Record<string, ServerEntry | false>>
  /** The reasons why entries of the config cannot be used, by name. */
  held?: Readonly<Record<string, string>>
  /** The names in the config, by the server's name, where the two differ. */
  writtenNames?: Readonly<Record<string, string>>
  dropIns: readonly DropIn[]
  /** The path of the hub's Node, which runs JavaScript and TypeScript servers too. */
  node: string
  /** A module that lets dropped-in programs import the hub's packages. */
  loader: string
  /** Returns the environment of a child, with the hub's variables of these prefixes or without. */
  childEnvironment(prefixes?: readonly string[]): Record<string, string>
  sandbox: Sandbox
}

export interface DesiredServers {
  /** The servers to run, in order of precedence for tool names: built-in, configured in order, dropped in. */
  specs: ServerSpec[]
  /** The servers that are switched off, in the same order. */
  disabled: ServerSpec[]
  /** The entries that do not run, each with the reason. */
  losers: {
    name: string
    origin: ServerSpec['origin']
    reason: string
    /** True if the config or a dropped-in server replaces it on purpose. */
    replaced?: true
  }[]
  /** Which tools the hub takes, by the server; all of one that is missing. */
  tools: Readonly<Record<string, ToolRules>>
}

/** A server that won its name, whether it runs or is disabled. */
interface Decided {
  spec: ServerSpec
  disabled: boolean
  tools?: ToolRules | undefined
}

/** Decides which servers run: a configured one wins over a dropped-in one, and that over a built-in one. */
export function decideServers(sources: ServerSources): DesiredServers {
  const losers: DesiredServers['losers'] = []
  const byName = new Map<string, Decided>()
  for (const builtIn of sources.builtIns) {
    const loser = addBuiltIn(builtIn, sources, byName)
    if (loser) losers.push(loser)
  }
  for (const dropIn of sources.dropIns) {
    const outcome = fromDropIn(dropIn, sources)
    if ('reason' in outcome) {
      losers.push(outcome)
      continue
    }
    if (byName.has(dropIn.name)) {
      const reason = `dropped-in ${dropIn.folder} wins`
      losers.push({ name: dropIn.name, origin: 'built-in', reason, replaced: true })
    }
    byName.set(dropIn.name, withWrittenName(outcome, dropIn.writtenAs))
  }
  for (const [name, entry] of Object.entries(sources.configured)) {
    const loser = byName.get(name)?.spec
    const isOwnSetting = loser?.origin === 'built-in' && (entry === false || (!entry.command && !entry.url))
    if (isOwnSetting) {
      if (entry === false) byName.delete(name)
      continue
    }
    const reason = 'the config has a server of this name'
    if (loser) losers.push({ name, origin: loser.origin, reason, replaced: true })
    byName.delete(name)
    if (entry === false) continue
    const outcome = fromEntry(name, 'config', entry, sources)
    if ('reason' in outcome) losers.push(outcome)
    else byName.set(name, withWrittenName(outcome, sources.writtenNames?.[name]))
  }
  for (const [name, reason] of Object.entries(sources.held ?? {})) {
    byName.delete(name)
    losers.push({ name, origin: 'config', reason: `held: ${reason}` })
  }
  const ofState = (disabled: boolean) =>
    [...byName.values()].flatMap(one => (one.disabled === disabled ? [one.spec] : []))
  return {
    specs: inOrder(ofState(false), sources),
    disabled: inOrder(ofState(true), sources),
    losers,
    tools: Object.fromEntries([...byName].flatMap(([name, { tools }]) => (tools ? [[name, tools]] : []))),
  }
}

function withWrittenName({ spec, ...decided }: Decided, writtenAs: string | undefined): Decided {
  return { spec: { ...spec, ...(writtenAs === undefined ? {} : { writtenAs }) }, ...decided }
}

function addBuiltIn(
  builtIn: BuiltIn,
  sources: ServerSources,
  byName: Map<string, Decided>,
): Loser | undefined {
  const entry = sources.configured[builtIn.name]
  if (entry === false) return undefined
  const seen = [...builtIn.envPrefixes, ...(builtIn.alsoSees ?? [])]
  const env = { ...sources.childEnvironment(seen), ...entry?.env }
  if (!builtIn.always && entry === undefined && !isConfigured(builtIn, env))
    return halfConfigured(builtIn, env)
  const transport = { kind: 'stdio' as const, command: sources.node, args: [builtIn.file], env }
  byName.set(builtIn.name, {
    spec: {
      name: builtIn.name,
      origin: 'built-in',
      prefix: entry?.prefix ?? '',
      transport,
      // It came with the hub, so its era is known: a slow machine's late answer makes it no older one.
      ...toLimits({ trust: 'own', era: 'modern', ...entry }),
    },
    disabled: entry?.disabled === true,
    tools: entry?.tools,
  })
  return undefined
}

/** Reports a key without an address, as of a server meant to run. Other variables may be anybody's. */
function halfConfigured({ name, envPrefixes }: BuiltIn, env: Record<string, string>): Loser | undefined {
  const key = Object.keys(env).find(
    variable =>
      /_(API_KEY|TOKEN|PASSWORD)(_FILE)?$/.test(variable) &&
      env[variable] !== '' &&
      envPrefixes.some(prefix => variable.startsWith(prefix)),
  )
  if (key === undefined) return undefined
  const address = key.replace(/_(API_KEY|TOKEN|PASSWORD)(_FILE)?$/, '_URL')
  const reason = `${key} is set, but no address: set ${address} too; servers/${name}/README.md lists what else would do`
  return { name, origin: 'built-in', reason }
}

/** Tells whether the environment holds the address of anything that the server looks after. */
export function isConfigured(
  { envPrefixes, decidedBy = [] }: Pick<BuiltIn, 'envPrefixes' | 'decidedBy'>,
  env: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(env).some(([variable, value]) => {
    if (value === '') return false
    const name = variable.replace(/_FILE$/, '')
    const isAddress = name.endsWith('_URL') && envPrefixes.some(prefix => name.startsWith(prefix))
    return isAddress || decidedBy.includes(name)
  })
}

type Loser = DesiredServers['losers'][number]

function fromDropIn(dropIn: DropIn, sources: ServerSources): Decided | Loser {
  switch (dropIn.kind) {
    case 'held':
      return { name: dropIn.name, origin: 'drop-in', reason: `held: ${dropIn.reason}` }
    case 'open': {
      const reason = `held: others than its owner can write to ${dropIn.guilty}: run chmod go-w on it to let this server start`
      return { name: dropIn.name, origin: 'drop-in', reason }
    }
    case 'entry':
      return fromEntry(dropIn.name, 'drop-in', dropIn.entry, sources, dropIn.folder)
    case 'program':
      return { spec: fromProgram(dropIn, sources), disabled: dropIn.disabled }
    default:
      return dropIn satisfies never
  }
}

function fromProgram(dropIn: Extract<DropIn, { kind: 'program' }>, sources: ServerSources): ServerSpec {
  const transport = {
    kind: 'stdio' as const,
    command: sources.node,
    // The spec holds the time of the last change, so that a changed program is started anew.
    args: ['--import', sources.loader, dropIn.file],
    env: { ...sources.childEnvironment(), SUPERBLOOM_DROPPED_AT: String(Math.round(dropIn.changed)) },
    cwd: dropIn.folder,
  }
  return {
    name: dropIn.name,
    origin: 'drop-in',
    prefix: defaultPrefix(dropIn.name),
    ...containWherePossible(transport, sources.sandbox, dropIn.folder),
  }
}

type Contained = Pick<ServerSpec, 'transport' | 'uncontained'>
type Stdio = Extract<ServerSpec['transport'], { kind: 'stdio' }>

/** Puts a server of others in a sandbox, as its entry wants it; returns why it may not run, if so. */
function contain(
  transport: ServerSpec['transport'],
  { sandbox: mode = 'auto', trust }: ServerEntry,
  sandbox: Sandbox,
  folder?: string,
): Contained | Pick<Loser, 'reason'> {
  if (transport.kind !== 'stdio' || mode === 'off' || (mode === 'auto' && trust === 'own'))
    return { transport }
  const privileged = needsPrivileges(transport.command)
  if (mode === 'auto') return privileged ? { transport } : containWherePossible(transport, sandbox, folder)
  const why = privileged ? `${transport.command} needs privileges that a sandbox takes away` : sandbox.why
  if (why !== undefined) return { reason: `its entry says sandbox: strict, but ${why}` }
  return containWherePossible(transport, sandbox, folder)
}

function containWherePossible(transport: Stdio, sandbox: Sandbox, folder?: string): Contained {
  if (sandbox.why !== undefined) return { transport, uncontained: sandbox.why }
  return { transport: { ...transport, wrap: sandbox.wrap(transport, folder) } }
}

function fromEntry(
  name: string,
  origin: ServerSpec['origin'],
  entry: ServerEntry,
  sources: ServerSources,
  folder?: string,
): Decided | Loser {
  if (entry.command && entry.url) return { name, origin, reason: 'has both command and url; keep one' }
  if (!entry.command && !entry.url) return { name, origin, reason: 'has neither command nor url; give one' }
  const prefix = entry.prefix ?? defaultPrefix(name)
  const transport = toTransport(entry, sources, folder)
  const contained = contain(transport, entry, sources.sandbox, folder)
  if ('reason' in contained) return { name, origin, ...contained }
  return {
    spec: { name, origin, prefix, ...contained, ...toLimits(entry) },
    disabled: entry.disabled === true,
    tools: entry.tools,
  }
}

function toTransport(
  { command = '', args = [], env, cwd: place, memory, url, headers = {}, oauth }: ServerEntry,
  sources: ServerSources,
  folder: string | undefined,
): ServerSpec['transport'] {
  if (url) return { kind: 'http', url, headers, ...(oauth ? { oauth: toOAuth(oauth) } : {}) }
  const cwd = place && folder ? resolve(folder, place) : (place ?? folder)
  return {
    kind: 'stdio',
    command,
    args,
    env: { ...sources.childEnvironment(), ...env },
    ...(cwd ? { cwd } : {}),
    ...(memory === undefined ? {} : { memory: memoryToBytes(memory) }),
  }
}

/** Returns the settings without the fields of other programs. */
function toOAuth({ grant, clientId, clientSecret, scope, issuer, hosts }: OAuthEntry): OAuthSettings {
  return {
    grant,
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(scope === undefined ? {} : { scope }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(hosts === undefined ? {} : { hosts }),
  }
}

/** Returns an entry's timeouts, isolation, era, trust and sampling. */
function toLimits({ timeout, connectTimeout, isolated, era, trust, sampling }: ServerEntry) {
  return {
    ...(trust === undefined ? {} : { trust }),
    ...(sampling ? { sampling } : {}),
    ...(timeout === undefined ? {} : { callTimeout: limitToMilliseconds(timeout) }),
    ...(connectTimeout === undefined ? {} : { connectTimeout: limitToMilliseconds(connectTimeout) }),
    ...(isolated ? { isolated } : {}),
    ...(era === undefined ? {} : { era }),
  }
}

function defaultPrefix(name: string): string {
  return `${name}__`
}

function inOrder(specs: ServerSpec[], sources: ServerSources): ServerSpec[] {
  const configured = Object.keys(sources.configured)
  const rank = (spec: ServerSpec) => {
    if (spec.origin === 'built-in') return sources.builtIns.findIndex(builtIn => builtIn.name === spec.name)
    if (spec.origin === 'config') return 1_000 + configured.indexOf(spec.name)
    return 1_000_000
  }
  return specs.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}
