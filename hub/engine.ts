import { randomUUID } from 'node:crypto'
import { getCompileCacheDir } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createDescribeTool } from './catalogue/describe-tool.ts'
import { createToolFinder } from './catalogue/find-tools.ts'
import { createNotificationChannel } from './catalogue/notification-channel.ts'
import { createServerTools, type ServerTools } from './catalogue/server-tools.ts'
import { createToolBox } from './catalogue/tool-box.ts'
import { openToolPins, type ToolPins } from './catalogue/tool-pins.ts'
import { type ServersWatch, watchServers } from './catalogue/watch-servers.ts'
import type { Agent } from './config/agent-files.ts'
import { builtIns } from './config/built-ins.ts'
import { childEnvironment, listSecretFiles, serverEnvironment } from './config/environment.ts'
import { budgetOf } from './config/models.ts'
import { notifySettings } from './config/notify.ts'
import { readDropInEntry } from './config/pasted-servers.ts'
import { codeFile } from './config/paths.ts'
import { combineSources } from './core/due.ts'
import { CALL_TOOL, FIND_TOOLS } from './core/lean-tools.ts'
import type { ModelTool } from './core/model.ts'
import type { Foundation } from './hub.ts'
import { ownsResource } from './mcp/hub-resources/hub-resources.ts'
import { hubTools } from './mcp/hub-tools/index.ts'
import { createMetaTools } from './meta-tools/index.ts'
import { type Notify, openNotify } from './notify/open-notify.ts'
import { createAnswers, type PolicyAnswers } from './policy/explain.ts'
import { classOf, decidePolicy, type PolicyQuestion } from './policy/policy.ts'
import { applyAgentFiles } from './runtime/agent-files.ts'
import { type Approvals, createApprovals } from './runtime/approvals.ts'
import { type CrashGuard, openCrashGuard } from './runtime/crash-guard.ts'
import { toSystemPrompt } from './runtime/prompt.ts'
import { createReset, type Reset } from './runtime/reset.ts'
import { createArchive, createRetention } from './runtime/retention.ts'
import { createRouter, type Router } from './runtime/router.ts'
import { createRuntime, type Runtime } from './runtime/runtime.ts'
import { createSemaphore, type Semaphore } from './runtime/semaphore.ts'
import { createStartupBarrier, type StartupBarrier } from './runtime/startup-barrier.ts'
import { nextExpiry } from './store/approvals.ts'
import { readCursor } from './store/events.ts'
import { nextDue } from './store/schedules.ts'
import { startClockTrigger } from './triggers/clock.ts'
import { createServerEvents } from './triggers/server-events.ts'
import { openSandbox, type Sandbox } from './upstream/stdio/sandbox.ts'

/** Milliseconds after which cycles start even if some server is not ready. */
const SETTLED_AFTER_MS = 5_000

/** The servers, the agents above them, and the parts that start their cycles. */
export interface Engine extends PolicyAnswers {
  readonly serverTools: ServerTools
  readonly toolPins: ToolPins
  readonly router: Router
  readonly runtime: Runtime
  readonly approvals: Approvals
  readonly notify: Notify
  readonly reset: Reset
  readonly describeTool: ReturnType<typeof createDescribeTool>
  /** Returns what begins every request of the default agent; undefined where there is no agent. */
  firstRequest(): { agent: string; system: string; tools: readonly ModelTool[] } | undefined
  readonly crashGuard: CrashGuard
  readonly serversWatch: ServersWatch
  /** Names of agents whose files are gone. */
  readonly retired: readonly string[]
  /** Sets the number of concurrent cycles from the config; none while the agents are held. */
  resize(): void
  /** Applies the agents' files as they are now. */
  applyAgents(): Promise<void>
  /** Starts work that came due while the hub was down, the clock, and the servers. */
  start(): Promise<void>
}

export async function createEngine(foundation: Foundation, stack: AsyncDisposableStack): Promise<Engine> {
  const { store, clock, newId, log, signals, telemetry, agents, config } = foundation
  const crashGuard = stack.use(await openCrashGuard(foundation))
  let retired: readonly string[] = []
  const routes = { store, clock, newId, signals, telemetry, agents: () => agents.all, retired: () => retired }
  const router = createRouter({ ...routes, modelOf: name => modelOf(foundation, name) })
  const metaTools = createMetaTools({ newId, signals, agentsOf: router.agentsOf, agent: agents.find })
  const metaNames = metaTools.map(({ name }) => name)
  const sandbox = await openSandbox(childEnvironment(), () => listHidden(config))
  const serverTools = stack.use(await openServerTools(foundation, { router, metaNames, sandbox }, stack))
  const { servers } = serverTools
  const pins = await openPins(foundation, router, servers, stack)
  const finder = stack.use(createToolFinder(() => servers.catalogue.tools))
  const rules = () => config.current.tools
  const toolBox = createToolBox(servers, metaTools, { rerun: () => rules().rerun, finder, pins })
  // No cycle starts before the servers have settled: the startup barrier then enlarges the semaphore.
  const semaphore = createSemaphore(0)
  const runtime = stack.use(openRuntime(foundation, crashGuard, toolBox, semaphore))
  const own = { agent: agents.find, owner: randomUUID(), sampleFor: runtime.sampleFor }
  const approvals = stack.use(createApprovals({ ...routes, log, toolBox, ...own, zone: foundation }))
  const channel = createNotificationChannel(servers)
  const { pushFetch } = foundation
  const told = { store, clock, log, signals, channel, decide: approvals.decide, pushFetch }
  const notify = openNotify({ ...told, settings: () => notifySettings(config) }, stack)
  stack.defer(signals.on('posted', ({ thread }) => runtime.wake(thread)))
  const serversWatch = watchServers(foundation, () => servers.status(), stack)
  followModels(foundation, runtime, stack)
  const barrier = createStartupBarrier(
    {
      signals,
      log,
      crashGuard,
      semaphore,
      concurrency: () => config.current.concurrency,
      startClock: createClock(foundation, { router, runtime, approvals, serversWatch }, stack),
      startApproved: approvals.begin,
    },
    stack,
  )
  const engine: Engine = {
    serverTools,
    toolPins: pins,
    router,
    runtime,
    approvals,
    notify,
    reset: createReset(routes),
    describeTool: createDescribeTool(servers, metaTools, {
      hubTools,
      pins,
      classOf: facts => classOf(rules(), facts),
    }),
    ...createAnswers({ rules, toolBox, agent: agents.find }),
    firstRequest: () => toFirstRequest(agents.find('homelab') ?? agents.all[0], toolBox),
    crashGuard,
    serversWatch,
    resize: barrier.resize,
    get retired() {
      return retired
    },
    async applyAgents() {
      retired = (await applyAgentFiles(foundation, agents.all)).retired
      announceAgents(foundation)
      warnOfLimits(foundation, runtime)
    },
    start: () => start(foundation, engine, barrier, stack),
  }
  return engine
}

function toFirstRequest(agent: Agent | undefined, toolBox: Pick<ReturnType<typeof createToolBox>, 'list'>) {
  return agent && { agent: agent.name, system: toSystemPrompt(agent), tools: toolBox.list(agent.tools) }
}

async function openPins(
  foundation: Foundation,
  { postEvent }: Router,
  servers: ServerTools['servers'],
  stack: AsyncDisposableStack,
): Promise<ToolPins> {
  const pins = stack.use(await openToolPins(foundation, postEvent))
  stack.defer(foundation.signals.on('servers', () => pins.look(servers)))
  return pins
}

/** Lists what the sandbox hides from servers. */
function listHidden({ current, file }: Foundation['config']) {
  return {
    dataFolder: current.dataFolder,
    files: [...listSecretFiles(file), ...(current.tls?.files.slice(1) ?? [])],
  }
}

/** Returns a function that starts the clock of everything that has a time. */
function createClock(
  { store, clock, random, log, signals, config }: Foundation,
  parts: Pick<Engine, 'router' | 'runtime' | 'approvals' | 'serversWatch'>,
  stack: AsyncDisposableStack,
): () => Promise<AsyncDisposable> {
  const sources = [
    { nextDue: () => nextDue(store.db), fire: parts.router.fireDue },
    parts.router.eventReleases,
    ...parts.runtime.due,
    createArchive({ store, clock }),
    parts.serversWatch,
    stack.use(createRetention({ store, clock, log, kept: () => config.current.retention })),
    { nextDue: () => nextExpiry(store.db), fire: parts.approvals.expireDue },
  ]
  return () => startClockTrigger({ clock, random, log, signals, ...combineSources(sources, clock.now) })
}

async function start(
  foundation: Foundation,
  { applyAgents, runtime, serverTools, notify }: Engine,
  barrier: StartupBarrier,
  stack: AsyncDisposableStack,
): Promise<void> {
  await applyAgents()
  await barrier.startClock()
  await runtime.wakeAll()
  serverTools.refresh()
  const open = () => {
    // The number of tokens that the tools take is known only now.
    warnOfLimits(foundation, runtime)
    barrier.open()
    notify.notifier.begin()
  }
  stack.defer(onceSettled(foundation, serverTools, open))
}

/** Resumes the cycles that wait for a model when it answers, or when a person wants it asked again. */
function followModels(
  { signals, log, models }: Foundation,
  runtime: Runtime,
  stack: AsyncDisposableStack,
): void {
  const resume = () => void runtime.resume().catch(error => log.error('suspended_not_resumed', { error }))
  stack.defer(signals.on('modelAnswers', resume))
  stack.defer(
    signals.on('modelRetryRequested', () => {
      const { default: first, named } = models.current
      for (const model of [first, ...named.values()]) model.health?.reset()
      resume()
    }),
  )
}

/**
 * Calls `run` once every server is ready or has failed, or after some seconds. An agent that resumed earlier
 * after a restart would find no tool, and take an interrupted call for one that cannot be made. Returns a
 * function that ends the wait.
 */
function onceSettled({ clock, signals }: Foundation, { servers }: ServerTools, run: () => void): () => void {
  const settle = () => {
    end()
    run()
  }
  const cancel = clock.after(SETTLED_AFTER_MS, settle)
  const off = signals.on('servers', () => servers.settled && settle())
  const end = () => {
    cancel()
    off()
  }
  if (servers.settled) settle()
  return end
}

function announceAgents({ agents, signals }: Foundation): void {
  for (const { name } of agents.all) signals.emit('schedules', { agent: name })
  signals.emit('agents', { names: agents.all.map(agent => agent.name) })
}

/** Logs which limits of agent files do not apply, and what to set. */
function warnOfLimits({ agents, log }: Foundation, runtime: Runtime): void {
  for (const agent of agents.all) {
    const message = runtime.problemOf(agent)
    if (message !== undefined) log.warn('limit_refused', { message })
  }
}

/** Finds a model by an agent file's name for it, as the config is by now. */
const findModel = ({ models: { current } }: Foundation, name: string) =>
  current.named.get(name) ?? current.default

const modelOf = (foundation: Foundation, agent: string) =>
  findModel(foundation, foundation.agents.find(agent)?.model ?? '')

function openRuntime(
  foundation: Foundation,
  { noteCycle }: CrashGuard,
  toolBox: ReturnType<typeof createToolBox>,
  semaphore: Semaphore,
): Runtime {
  const { store, clock, newId, random, log, signals, telemetry, agents, config } = foundation
  const deps = {
    store,
    clock,
    newId,
    random,
    log,
    signals,
    telemetry,
    toolBox,
    model: (name: string) => findModel(foundation, name),
    compactionModel: () => foundation.models.current.compaction,
    agent: agents.find,
    budget: () => budgetOf(config.current),
    owner: randomUUID(),
    noteCycle,
    get timezone() {
      return foundation.timezone
    },
    policy: (question: PolicyQuestion) => decidePolicy(config.current.tools, question),
  }
  return createRuntime(deps, semaphore)
}

/** Opens the upstream servers. Their events go to the router until the stack is disposed of. */
function openServerTools(
  { clock, random, log, signals, store, version, config }: Foundation,
  { router, metaNames, sandbox }: { router: Router; metaNames: readonly string[]; sandbox: Sandbox },
  stack: AsyncDisposableStack,
): Promise<ServerTools> {
  const hubNames = hubTools.map(({ definition }) => definition.name)
  const taken = new Set([...hubNames, ...metaNames, FIND_TOOLS, CALL_TOOL])
  const ending = new AbortController()
  stack.defer(() => ending.abort())
  const { dataFolder } = config.current
  return createServerTools({
    clock,
    random,
    log,
    store,
    version,
    taken: { tools: taken, prompts: new Set(), isOwn: ownsResource },
    longestName: () => config.current.tools.longestName,
    builtIns,
    sandbox,
    childEnvironment: (prefixes = []) => ({ ...serverEnvironment(prefixes, dataFolder), ...compileCache() }),
    loader: pathToFileURL(codeFile('hub/upstream/drop-in-loader.mjs')).href,
    dataFolder,
    dropInsFolder: join(dataFolder, 'servers'),
    configured: () => {
      const { servers, heldServers, writtenNames } = config.current
      return { configured: servers, held: heldServers, writtenNames }
    },
    readEntry: readDropInEntry,
    onChange: change => signals.emit('servers', change),
    onEvents: createServerEvents({
      clock,
      log,
      ending: ending.signal,
      readCursor: server => readCursor(store.db, server),
      post: router.postFeed,
    }),
    onUpdated: uri => signals.emit('resourceUpdated', { uri }),
    onNotice: (server, method, params) => signals.emit('serverNotice', { server, method, params }),
  })
}

/**
 * Returns where built-in and dropped-in servers cache what Node compiled, to start faster: the hub's folder,
 * or Node's default where the hub is built and has none.
 */
function compileCache(): Record<string, string> {
  const folder = getCompileCacheDir()
  return { NODE_COMPILE_CACHE: folder === undefined ? join(tmpdir(), 'node-compile-cache') : dirname(folder) }
}
