import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, EnvHttpProxyAgent, setGlobalDispatcher } from 'undici'
import { modelsOf } from '../schemas/models.ts'
import { HUB } from '../schemas/tokens.ts'
import { type Agents, createAgents } from './config/agents.ts'
import { describeEnd, watchCertificate } from './config/certificate.ts'
import { openDataFolder } from './config/data-folder.ts'
import type { Environment } from './config/environment.ts'
import { createLiveConfig, type LiveConfig } from './config/live-config.ts'
import type { Config } from './config/load.ts'
import { hashOfOperatorFiles, hashOperatorFiles } from './config/operator-files.ts'
import { readVersion } from './config/paths.ts'
import { openOwnerToken, readHubId } from './config/token.ts'
import { readTraces } from './config/traces.ts'
import { type Changed, type WatchedFiles, watchFiles } from './config/watch.ts'
import { type Clock, MAX_DELAY, systemClock } from './core/clock.ts'
import { createIds, type NewId } from './core/ids.ts'
import type { Log } from './core/log.ts'
import type { Model } from './core/model.ts'
import { createSignals, type SignalMap, type Signals } from './core/signals.ts'
import { createTelemetry, type Telemetry, type Tracer } from './core/telemetry.ts'
import { createEngine, type Engine } from './engine.ts'
import { openEntrances } from './entrances.ts'
import { createLead, type Lead } from './http/lead.ts'
import { type Listening, toUrl } from './http/listen.ts'
import { Tokens } from './http/tokens.ts'
import { type LiveModels, openModels } from './model/open-models.ts'
import { closeQuestions } from './store/approvals.ts'
import { type AuditEntry, readAuditEnd } from './store/audit-log.ts'
import { type FileEdit, recordFileChanges } from './store/file-changes.ts'
import { openOwnStore, type Store } from './store/open.ts'
import type { Standby } from './store/postgres-lease.ts'
import { voidLeases } from './store/threads.ts'
import { readWhole } from './upstream/http/bounded-fetch.ts'
import { createPublicFetch } from './upstream/http/public-fetch.ts'

/** Replacements that tests provide. */
export interface HubOverrides {
  clock?: Clock
  random?: () => number
  /** Replaces the configured model. */
  model?: Model
  /** Replaces what sends to the push services of browsers. */
  pushFetch?: typeof fetch
}

export interface HubInputs {
  config: Config
  environment: Environment
  log: Log
  /** True to start with a store that lost its contents; by default the start fails. */
  acceptLoss?: boolean
  /** True to lead also with other files than those of the hub that led last, where several share a store. */
  acceptFiles?: boolean
  /** Called when the hub begins to wait for the lead, and whenever the reason changes. */
  onStandby?: (standby: Standby) => void
  /** Ends the wait for the lead: `startHub` throws its reason. */
  signal?: AbortSignal
  overrides?: HubOverrides
}

/** The parts that every other part of the hub uses. */
export interface Foundation {
  readonly clock: Clock
  readonly random: () => number
  readonly newId: NewId
  readonly log: Log
  readonly signals: Signals
  readonly telemetry: Telemetry
  readonly environment: Environment
  readonly config: LiveConfig
  readonly agents: Agents
  readonly store: Store
  readonly lead: Lead
  readonly models: LiveModels
  readonly tokens: Tokens
  /** Sends to the push services of browsers. */
  readonly pushFetch: typeof fetch
  readonly version: string
  readonly startedAt: number
  /** Time zone of the current config. */
  readonly timezone: string
}

export interface Hub extends AsyncDisposable {
  /** Address that the hub listens on, with the real port. */
  readonly url: string
  readonly token: string
  /** Resolves with the reason if the hub has to end, since another one may have taken its store. */
  readonly taken: Promise<string>
  /** Makes a token with which the owner signs in on one device, within ten minutes. */
  makeLinkToken(): Promise<string>
}

/** Milliseconds after which the hub counts as ready even if some server is not. */
const READY_AFTER_MS = 5_000

/**
 * Starts a hub from a config; nothing else builds its parts. The hub listens when this resolves, and does not
 * wait for any server. Disposing stops it in order; interrupted work resumes at the next start.
 */
export async function startHub(inputs: HubInputs): Promise<Hub> {
  await using stack = new AsyncDisposableStack()
  // `fetch` sends with this too. The client within Node 24 ends the process when a connection closes while its
  // answer is read slowly, as that of any server may be.
  const Dispatcher = inputs.environment('NODE_USE_ENV_PROXY') === '1' ? EnvHttpProxyAgent : Agent
  setGlobalDispatcher(new Dispatcher({ allowH2: false }))
  const foundation = await openFoundation(inputs, stack)
  const { clock, config, tokens, lead } = foundation
  const readyAt = clock.monotonic() + READY_AFTER_MS
  const engine = await createEngine(foundation, stack)
  const isReady = () => engine.serverTools.servers.settled || clock.monotonic() >= readyAt
  const { host, tls } = config.current
  const applyFiles = createApplyFiles(foundation, engine)
  const { port, renew } = await openEntrances(foundation, engine, { isReady, applyFiles }, stack)
  const url = toUrl(host, port, tls !== undefined)
  lead.keep({ url })
  await engine.start()
  await watch(foundation, applyFiles, stack)
  keepHubFile(foundation, { url, isSecure: tls !== undefined, renew }, stack)
  foundation.log.info('hub_started', { url, audit: await readAuditEnd(foundation.store.db) })
  const whole = stack.move()
  return {
    url,
    taken: lead.taken,
    get token() {
      return tokens.ownerSecret
    },
    makeLinkToken: async () => (await tokens.inviteOwner()).secret,
    async [Symbol.asyncDispose]() {
      try {
        await whole.disposeAsync()
      } catch (error) {
        // Parts store something at their end, which a store that is lost does not take.
        if (foundation.store.findProblem() === undefined) throw error
        foundation.log.warn('hub_end_not_stored', { error })
      }
    },
  }
}

/** Locks the data folder and opens its contents; `stack` closes everything. */
async function openFoundation(inputs: HubInputs, stack: AsyncDisposableStack): Promise<Foundation> {
  const { config, environment, log, acceptLoss = false, overrides = {} } = inputs
  const clock = overrides.clock ?? systemClock
  openDataFolder(config.dataFolder)
  const signals = createSignals(error => log.error('listener_failed', { error }))
  const onCommit = (commit: SignalMap['committed']) => signals.emit('committed', commit)
  const live = createLiveConfig(config, environment, log, clock)
  await using lead = openLead(inputs, live, clock)
  const place = { folder: config.dataFolder, url: config.store }
  const store = await openOwnStore(place, { acceptLoss, log, onCommit, lead: lead.options }, stack)
  if (lead.hasWaited) live.reload()
  await store.write(async tx => {
    await voidLeases(tx)
    await closeQuestions(tx, clock.now())
  })
  const newId = createIds(clock.now)
  const owner = openOwnerToken(config)
  const tokens = stack.use(await Tokens.open({ store, clock, newId, log, signals, owner }))
  return {
    clock,
    random: overrides.random ?? Math.random,
    newId,
    log,
    signals,
    telemetry: createTelemetry({ clock, log, signals, tracer: await openTraces(inputs, live, stack) }),
    environment,
    config: live,
    agents: createAgents(config.agentsFolder, environment, log, () => live.current.model),
    store,
    lead,
    models: await openModels(live.current.model, {
      clock,
      log,
      signals,
      store,
      environment,
      override: overrides.model,
    }),
    tokens,
    pushFetch: overrides.pushFetch ?? createPushFetch(),
    version: readVersion(),
    startedAt: clock.now(),
    get timezone() {
      return live.current.timezone
    },
  }
}

function openLead(
  { config, log, acceptFiles = false, onStandby = () => undefined, signal }: HubInputs,
  live: LiveConfig,
  clock: Clock,
): Lead {
  const readFiles = () => hashOfOperatorFiles(watchedFiles(live))
  const never = new AbortController().signal
  const id = readHubId(config.dataFolder)
  return createLead({ id, config, clock, log, readFiles, acceptFiles, onStandby, signal: signal ?? never })
}

/** Creates what sends to addresses that browsers name: public ones alone, and of an answer it reads only so much. */
function createPushFetch(): typeof fetch {
  const send = createPublicFetch(() => false)
  return async (url, init) => readWhole(await send(url, init))
}

/** Opens the tracer where the environment says where traces go; otherwise nothing of it is loaded. */
async function openTraces(
  { environment, log, overrides = {} }: HubInputs,
  live: LiveConfig,
  stack: AsyncDisposableStack,
): Promise<Tracer | undefined> {
  const traces = readTraces(environment)
  if (!traces) return undefined
  const { openTracer } = await import('./telemetry/open-tracer.ts')
  const placeOf = (model: string) =>
    modelsOf(live.current.model).find(each => each.model === model) ?? { provider: 'superbloom' }
  const clock = overrides.clock ?? systemClock
  return stack.use(openTracer(traces, { clock, log, version: readVersion(), placeOf }))
}

/** Tells the commands of this machine where the hub is, and with https by which certificate they know it. */
function keepHubFile(
  { config, startedAt, signals, log, clock }: Foundation,
  { url, isSecure, renew }: Pick<Listening, 'renew'> & { url: string; isSecure: boolean },
  stack: AsyncDisposableStack,
): void {
  const file = join(config.current.dataFolder, 'hub.json')
  let served = config.current.tls
  const write = () => {
    const certificate = isSecure ? served?.pem : undefined
    const text = JSON.stringify({ pid: process.pid, url, startedAt, certificate })
    // The rename keeps readers that wait for the file from seeing half of it.
    writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  let cancel: (() => void) | undefined
  const tellEnd = () => {
    cancel?.()
    if (!isSecure || !served) return
    const left = served.expiresAt - clock.now()
    if (left > 0) cancel = clock.after(Math.min(left, MAX_DELAY), tellEnd)
    else log.error('certificate_ended', { message: describeEnd(served, config.current.timezone) })
  }
  write()
  tellEnd()
  stack.defer(() => rmSync(file, { force: true }))
  stack.defer(() => cancel?.())
  const onConfig = () => {
    const { tls } = config.current
    if (!isSecure || !tls || tls.fingerprint === served?.fingerprint) return
    renew(tls.pair)
    served = tls
    write()
    log.info('certificate_renewed', { fingerprint: tls.fingerprint, expiresAt: tls.expiresAt })
    tellEnd()
  }
  stack.defer(signals.on('config', onConfig))
}

/** Adds files of the operator that are not as they were to the audit. */
async function recordFiles(
  { store, clock, config, agents, lead }: Foundation,
  edits: readonly FileEdit[],
  ...others: AuditEntry[]
): Promise<void> {
  const watched = watchedFiles(config)
  const hashes = hashOperatorFiles(watched)
  lead.keep({ files: hashOfOperatorFiles(watched, hashes) })
  const refused = [...config.refusals, ...agents.problems]
  await store.write(tx => recordFileChanges(tx, { at: clock.now(), hashes, refused, edits }, ...others))
}

function watchedFiles({ file, current: { agentsFolder, dataFolder } }: LiveConfig): WatchedFiles {
  return { configFile: file, agentsFolder, dropInsFolder: join(dataFolder, 'servers') }
}

/** Puts files in force as they are now; resolves once they are, or once the log says why they are not. */
export type ApplyFiles = (what: Changed, edit?: FileEdit) => Promise<void>

/** Creates a function that applies changes of files, one after the other. */
function createApplyFiles(foundation: Foundation, engine: Engine): ApplyFiles {
  const { log, config, models, agents, signals } = foundation
  const reloadConfig = async () => {
    if (!config.reload()) return false
    engine.resize()
    await models.reload(config.current.model)
    signals.emit('modelAnswers', { name: models.current.default.name })
    return true
  }
  // A change that was seen before it was edited over the hub may read the file only after that.
  const edits: FileEdit[] = []
  const apply = async (what: Changed) => {
    const isNewConfig = what === 'config' && (await reloadConfig())
    // Agent files depend on the config: on its time zone, and on its prices for limits on money.
    if (what === 'agents' || isNewConfig) {
      agents.reload()
      await engine.applyAgents()
      // A limit that held work back may be higher now.
      await engine.runtime.wakeAll()
    }
    if (isNewConfig) signals.emit('config', { file: config.file })
    if (what !== 'agents') engine.serverTools.refresh()
    await recordFiles(foundation, edits)
  }
  let turn: Promise<void> = Promise.resolve()
  return (what, edit) => {
    if (edit) edits.push(edit)
    turn = turn
      .then(() => apply(what))
      .catch(error => log.error('change_not_applied', { what, error }))
      .finally(() => edit && edits.splice(edits.indexOf(edit), 1))
    return turn
  }
}

/** Applies the files of the operator whenever one changes. */
async function watch(
  foundation: Foundation,
  applyFiles: ApplyFiles,
  stack: AsyncDisposableStack,
): Promise<void> {
  const { clock, log, config, signals, version } = foundation
  const started = { at: clock.now(), kind: 'start', actor: HUB, outcome: 'ok', details: { version } } as const
  await recordFiles(foundation, [], started)
  const onChange = (what: Changed) => void applyFiles(what)
  stack.use(await watchFiles(watchedFiles(config), { clock, log, onChange }))
  const certificate = stack.use(
    watchCertificate(
      () => config.current.tls,
      () => onChange('config'),
    ),
  )
  certificate.follow()
  stack.defer(signals.on('config', certificate.follow))
}
