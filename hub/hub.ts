import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Changed, watchFiles } from './config/watch.ts'
import { openCrashGuard } from './crash-guard.ts'
import { createEngine, type Engine } from './engine.ts'
import { openEntrances } from './entrances.ts'
import { type Foundation, type HubInputs, openFoundation } from './foundation.ts'
import type { HubToolDeps } from './mcp/hub-tools/deps.ts'
import { hubTools } from './mcp/hub-tools/index.ts'
import { listAgents, readStatus } from './status.ts'

export type { HubInputs, HubOverrides } from './foundation.ts'

export interface Hub extends AsyncDisposable {
  /** Address that the hub listens on, with the real port. */
  readonly url: string
  readonly token: string
}

/** Milliseconds after which the hub counts as ready even if some server is not. */
const READY_AFTER_MS = 5_000

/**
 * Starts a hub from a config; nothing else builds its parts. The hub listens when this resolves, and does not
 * wait for any server. Disposing stops it in order; interrupted work resumes at the next start.
 */
export async function startHub(inputs: HubInputs): Promise<Hub> {
  await using stack = new AsyncDisposableStack()
  const foundation = await openFoundation(inputs, stack)
  const { clock, config } = foundation
  const readyAt = clock.monotonic() + READY_AFTER_MS
  let engine: Engine | undefined
  const reads: HubToolDeps = {
    store: foundation.store,
    clock,
    newId: foundation.newId,
    signals: foundation.signals,
    get timezone() {
      return config.current.timezone
    },
    agents: () => listAgents(foundation, started(engine)),
    postMessage: message => started(engine).router.postMessage(message),
    reset: request => started(engine).reset(request),
    postEvent: event => started(engine).router.postEvent(event),
    stop: async (target, by) => {
      const { stopped, waiting } = await started(engine).router.stop(target, by)
      return [
        ...stopped.map(({ thread, cycle }) => ({ thread, cycle })),
        ...waiting.map(thread => ({ thread })),
      ]
    },
    status: asked => readStatus(foundation, started(engine), asked),
  }
  const crashGuard = stack.use(await openCrashGuard(foundation))
  const hubToolNames = hubTools.map(tool => tool.definition.name)
  engine = createEngine(foundation, { hubToolNames, crashGuard }, stack)
  const { servers } = engine.serverTools
  const isReady = () => servers.settled || clock.monotonic() >= readyAt
  const listening = await openEntrances(foundation, engine, { reads, isReady }, stack)
  const url = toUrl(config.current.host, listening.port)
  await engine.start()
  stack.use(await watch(foundation, engine))
  writeHubFile(foundation, url, stack)
  foundation.log.info('hub_started', { url })
  const whole = stack.move()
  return { url, token: foundation.token, [Symbol.asyncDispose]: () => whole.disposeAsync() }
}

function started(engine: Engine | undefined): Engine {
  if (!engine) throw new Error('The hub is still being built')
  return engine
}

/** Returns an address that a person can open; a hub that listens everywhere is reached by loopback too. */
function toUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

function writeHubFile(foundation: Foundation, url: string, stack: AsyncDisposableStack): void {
  const file = join(foundation.config.current.dataFolder, 'hub.json')
  const text = `${JSON.stringify({ pid: process.pid, url, startedAt: foundation.startedAt })}\n`
  // The rename keeps readers that wait for the file from seeing half of it.
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  stack.defer(() => rmSync(file, { force: true }))
}

function watch(foundation: Foundation, engine: Engine): Promise<AsyncDisposable> {
  const { clock, log, config } = foundation
  const { agentsFolder, dataFolder } = config.current
  const apply = async (what: Changed) => {
    if (what === 'agents') {
      foundation.agents.reload()
      await engine.applyAgents()
      await engine.runtime.wakeAll()
    }
    if (what === 'config' && config.reload()) {
      engine.resize()
      await foundation.reloadModel()
      foundation.signals.emit('modelAnswers', { name: foundation.model.name })
      // Schedules of agent files without a time zone use the config's, and limits on money need its prices.
      foundation.agents.reload()
      await engine.applyAgents()
      // The config may have raised a limit that held work back.
      await engine.runtime.wakeAll()
      foundation.signals.emit('config', { file: config.file })
    }
    if (what !== 'agents') await engine.serverTools.refresh()
  }
  let turn: Promise<void> = Promise.resolve()
  const onChange = (what: Changed) => {
    turn = turn.then(() => apply(what)).catch(error => log.error('change_not_applied', { what, error }))
  }
  const watched = {
    configFile: config.file,
    agentsFolder,
    dropInsFolder: join(dataFolder, 'servers'),
  }
  return watchFiles(watched, { clock, log, onChange })
}
