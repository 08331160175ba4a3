import { type Agents, createAgents } from './config/agents.ts'
import { openDataFolder } from './config/data-folder.ts'
import type { Environment } from './config/environment.ts'
import type { Config } from './config/load.ts'
import { hasPrices } from './config/models.ts'
import { readVersion } from './config/paths.ts'
import { readOrMakeToken } from './config/token.ts'
import { type Clock, systemClock } from './core/clock.ts'
import { createEmitter } from './core/emitter.ts'
import { HubError } from './core/errors.ts'
import { createIds, type NewId } from './core/ids.ts'
import type { Log } from './core/log.ts'
import type { Model } from './core/model.ts'
import type { SignalMap, Signals } from './core/signals.ts'
import { createLiveConfig, type LiveConfig } from './live-config.ts'
import { type Models, openModels } from './models.ts'
import { closeQuestions } from './store/approvals.ts'
import { openStore, type Store } from './store/open.ts'
import { lockFolder } from './store/sqlite.ts'
import { describeLoss, findLoss, wasUsed } from './store/store-loss.ts'
import { voidLeases } from './store/threads.ts'

/** Replacements that tests provide. */
export interface HubOverrides {
  clock?: Clock
  random?: () => number
  /** Replaces the configured model. */
  model?: Model
}

export interface HubInputs {
  config: Config
  environment: Environment
  log: Log
  /** True to start with a store that lost its contents; by default the start fails. */
  acceptLoss?: boolean
  overrides?: HubOverrides
}

/** The parts that every other part of the hub uses. */
export interface Foundation extends Models {
  readonly clock: Clock
  readonly random: () => number
  readonly newId: NewId
  readonly log: Log
  readonly signals: Signals
  readonly config: LiveConfig
  readonly agents: Agents
  readonly store: Store
  readonly token: string
  readonly version: string
  readonly startedAt: number
  /** Loads the models of the current config. */
  reloadModel(): Promise<void>
}

/** Locks the data folder and opens its contents; `stack` closes everything. */
export async function openFoundation(inputs: HubInputs, stack: AsyncDisposableStack): Promise<Foundation> {
  const { config, environment, log, acceptLoss = false, overrides = {} } = inputs
  const clock = overrides.clock ?? systemClock
  openDataFolder(config.dataFolder)
  const store = await openWholeStore(config.dataFolder, { acceptLoss, log }, stack)
  await store.write(async tx => {
    await voidLeases(tx)
    await closeQuestions(tx, clock.now())
  })
  const signals = createEmitter<SignalMap>(error => log.error('listener_failed', { error }))
  const models = (of: Config) =>
    openModels(of.model, overrides.model, {
      clock,
      log,
      signals,
      store,
      environment,
      // Models of an earlier config change nothing.
      onChange: changed => live.current === of && Object.assign(foundation, changed),
    })
  const live = createLiveConfig(config, environment, log)
  const foundation: Foundation = {
    clock,
    random: overrides.random ?? Math.random,
    newId: createIds(clock.now),
    log,
    signals,
    config: live,
    agents: createAgents(config.agentsFolder, environment, log, () => ({
      hasPrices: hasPrices(live.current.model),
      models: Object.keys(live.current.model?.named ?? {}),
    })),
    store,
    token: config.token ?? readOrMakeToken(config.dataFolder),
    version: readVersion(),
    startedAt: clock.now(),
    ...(await models(config)),
    async reloadModel() {
      Object.assign(foundation, await models(foundation.config.current))
    },
  }
  return foundation
}

/** Locks the folder and opens its store. Throws `conflict` if it lost its contents, unless accepted. */
async function openWholeStore(
  folder: string,
  { acceptLoss, log }: { acceptLoss: boolean; log: Log },
  stack: AsyncDisposableStack,
): Promise<Store> {
  const used = wasUsed(folder)
  stack.use(lockFolder(folder))
  const loss = findLoss(folder, used)
  if (loss) {
    const why = describeLoss(folder, loss)
    if (!acceptLoss) throw new HubError('conflict', why)
    log.warn('store_loss_accepted', { why })
  }
  return stack.use(await openStore(folder, error => log.warn('store_mark_not_written', { error })))
}
