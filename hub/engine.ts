import { randomUUID } from 'node:crypto'
import { createToolFinder } from './catalogue/find-tools.ts'
import type { ServerTools } from './catalogue/server-tools.ts'
import { createToolBox } from './catalogue/tool-box.ts'
import { budgetOf } from './config/budget.ts'
import { combineSources } from './core/due.ts'
import { CALL_TOOL, FIND_TOOLS } from './core/lean-tools.ts'
import { createSemaphore, type Semaphore } from './core/semaphore.ts'
import type { CrashGuard } from './crash-guard.ts'
import type { Foundation } from './foundation.ts'
import { openGate } from './gate.ts'
import { createMetaTools } from './meta-tools/index.ts'
import { openServerTools } from './open-servers.ts'
import { applyAgentFiles } from './runtime/agent-files.ts'
import { type Approvals, createApprovals } from './runtime/approvals.ts'
import { createArchive } from './runtime/archive.ts'
import { createReset, type Reset } from './runtime/reset.ts'
import { createRetention } from './runtime/retention.ts'
import { createRouter, type Router } from './runtime/router.ts'
import { createRuntime, type Runtime } from './runtime/runtime.ts'
import { nextExpiry } from './store/approvals.ts'
import { nextDue } from './store/schedules.ts'
import { agentOfThread } from './store/threads.ts'
import { startClockTrigger } from './triggers/clock.ts'
import { type ServersWatch, watchServers } from './watch-servers.ts'

/** Milliseconds after which cycles start even if some server is not ready. */
const SETTLED_AFTER_MS = 5_000

/** Options of the engine. No server's tool may take one of `hubToolNames`. */
export interface EngineOptions {
  hubToolNames: readonly string[]
  crashGuard: CrashGuard
}

/** The servers, the agents above them, and the parts that start their cycles. */
export interface Engine {
  readonly serverTools: ServerTools
  readonly router: Router
  readonly runtime: Runtime
  readonly approvals: Approvals
  readonly reset: Reset
  /** Guard that holds the agents after a crash loop. */
  readonly crashGuard: CrashGuard
  readonly serversWatch: ServersWatch
  /** Sets the number of concurrent cycles from the config; none while the agents are held. */
  resize(): void
  /** Names of agents whose files are gone. */
  retired: readonly string[]
  /** Applies the agents' files as they are now. */
  applyAgents(): Promise<void>
  /** Starts work that came due while the hub was down, the clock, and the servers. */
  start(): Promise<void>
}

export function createEngine(
  foundation: Foundation,
  options: EngineOptions,
  stack: AsyncDisposableStack,
): Engine {
  const { clock, signals, store, agents, newId } = foundation
  let retired: readonly string[] = []
  const router = createRouter({
    store,
    clock,
    newId,
    signals,
    agents: () => agents.all,
    retired: () => retired,
  })
  const metaTools = createMetaTools({
    newId,
    signals,
    agentsOf: router.agentsOf,
    agent: agents.find,
    get timezone() {
      return foundation.config.current.timezone
    },
  })
  const taken = new Set([...options.hubToolNames, ...metaTools.map(tool => tool.name), FIND_TOOLS, CALL_TOOL])
  const serverTools = stack.use(openServerTools(foundation, router, taken, stack))
  // No cycle starts before the servers have settled: the gate then enlarges the semaphore.
  const semaphore = createSemaphore(0)
  const { servers } = serverTools
  const finder = stack.use(createToolFinder(() => servers.catalogue.tools))
  const rerun = () => foundation.config.current.tools.rerun
  const toolBox = createToolBox(servers, metaTools, { rerun, finder })
  const runtime = stack.use(openRuntime(foundation, options.crashGuard, toolBox, semaphore))
  const approvals = stack.use(openApprovals(foundation, toolBox, runtime))
  stack.defer(signals.on('posted', ({ thread }) => runtime.wake(thread)))
  const serversWatch = watchServers(foundation, () => serverTools.servers.status(), stack)
  followModel(foundation, runtime, stack)
  const gate = openGate(foundation, options.crashGuard, semaphore, stack, {
    clock: createClock(foundation, { router, runtime, approvals, serversWatch }, stack),
    approved: approvals.begin,
  })
  const applyAgents = async () => {
    const applied = await applyAgentFiles(
      {
        store,
        clock,
        get timezone() {
          return foundation.config.current.timezone
        },
      },
      agents.all,
    )
    retired = applied.retired
    announceAgents(foundation)
    warnOfLimits(foundation, runtime)
  }
  return {
    serverTools,
    router,
    runtime,
    approvals,
    reset: createReset({ store, clock, newId, signals, agents: () => agents.all }),
    crashGuard: options.crashGuard,
    serversWatch,
    resize: gate.resize,
    applyAgents,
    get retired() {
      return retired
    },
    async start() {
      await applyAgents()
      await gate.startClock()
      await runtime.wakeAll()
      await serverTools.refresh()
      stack.defer(onceSettled(foundation, serverTools, runtime, gate.open))
    },
  }
}

/** Creates the clock trigger that fires all sources with a due time. */
function createClock(
  { store, clock, random, log, signals, config }: Foundation,
  {
    router,
    runtime,
    approvals,
    serversWatch,
  }: Pick<Engine, 'router' | 'runtime' | 'approvals' | 'serversWatch'>,
  stack: AsyncDisposableStack,
): () => Promise<AsyncDisposable> {
  const days = () => config.current.retention.days
  const sources = [
    { nextDue: () => nextDue(store.db), fire: router.fireDue },
    router.eventReleases,
    ...runtime.due,
    createArchive({ store, clock }),
    serversWatch,
    stack.use(createRetention({ store, clock, log, days })),
    { nextDue: () => nextExpiry(store.db), fire: approvals.expireDue },
  ]
  return () => startClockTrigger({ clock, random, log, signals, ...combineSources(sources, clock.now) })
}

/** Resumes the cycles that wait for a model when it answers, or when a person wants it asked again. */
function followModel(foundation: Foundation, runtime: Runtime, stack: AsyncDisposableStack): void {
  const { signals, log } = foundation
  const goOn = () => void runtime.goOn().catch(error => log.error('parked_not_released', { error }))
  stack.defer(signals.on('modelAnswers', goOn))
  stack.defer(
    signals.on('modelWanted', () => {
      for (const model of [foundation.model, ...foundation.namedModels.values()]) model.health?.reset()
      goOn()
    }),
  )
}

/**
 * Calls `run` once every server is ready or has failed, or after some seconds. An agent that resumed earlier
 * after a restart would find no tool, and take an interrupted call for one that cannot be made.
 */
function onceSettled(
  foundation: Foundation,
  { servers }: ServerTools,
  runtime: Runtime,
  run: () => void,
): () => void {
  const { clock, signals } = foundation
  const settle = () => {
    end()
    // The number of tokens that the tools take is known only now.
    warnOfLimits(foundation, runtime)
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

function openRuntime(
  foundation: Foundation,
  { noteCycle }: CrashGuard,
  toolBox: ReturnType<typeof createToolBox>,
  semaphore: Semaphore,
): Runtime {
  const { store, clock, newId, random, log, signals, agents } = foundation
  const deps = {
    store,
    clock,
    newId,
    random,
    log,
    signals,
    toolBox,
    model: (name: string) => foundation.namedModels.get(name) ?? foundation.model,
    compactionModel: () => foundation.compactionModel,
    agent: agents.find,
    budget: () => budgetOf(foundation.config.current),
    owner: randomUUID(),
    noteCycle,
    get timezone() {
      return foundation.config.current.timezone
    },
    approve: () => foundation.config.current.tools.approve,
  }
  return createRuntime(deps, semaphore, agentOfThread)
}

function openApprovals(
  { store, clock, newId, log, signals, agents }: Foundation,
  toolBox: ReturnType<typeof createToolBox>,
  { sampleFor }: Runtime,
): Approvals {
  const own = { agent: agents.find, owner: randomUUID(), sampleFor }
  return createApprovals({ store, clock, newId, log, signals, toolBox, ...own })
}
