import { mkdirSync } from 'node:fs'
import { type Agents, createAgents } from './config/agents.ts'
import type { Environment } from './config/environment.ts'
import type { Config } from './config/load.ts'
import { readVersion } from './config/paths.ts'
import { readOrMakeToken } from './config/token.ts'
import { type Clock, systemClock } from './core/clock.ts'
import { createEmitter } from './core/emitter.ts'
import { createIds, type NewId } from './core/ids.ts'
import type { Log } from './core/log.ts'
import type { Model } from './core/model.ts'
import type { SignalMap, Signals } from './core/signals.ts'
import { createLiveConfig, type LiveConfig } from './live-config.ts'
import { createModel } from './model/create-model.ts'
import { openStore, type Store } from './store/open.ts'
import { lockFolder } from './store/sqlite.ts'
import { voidLeases } from './store/threads.ts'

/** What tests put in place of the real thing. */
export interface HubOverrides {
  clock?: Clock
  random?: () => number
  /** In place of the configured model. */
  model?: Model
}

export interface HubInputs {
  config: Config
  environment: Environment
  log: Log
  overrides?: HubOverrides
}

/** What every part of the hub stands on. */
export interface Foundation {
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
  /** The model in force. */
  model: Model
  /** The model that writes summaries, where that is another. */
  compactionModel: Model | undefined
  /** Takes the model from the config in force. */
  reloadModel(): Promise<void>
}

async function openCompactionModel({ model }: Config, clock: Clock): Promise<Model | undefined> {
  return model?.compaction && (await createModel(model.compaction, clock))
}

/** Locks the data folder and opens what is in it; everything is closed with `stack`. */
export async function openFoundation(inputs: HubInputs, stack: AsyncDisposableStack): Promise<Foundation> {
  const { config, environment, log, overrides = {} } = inputs
  const clock = overrides.clock ?? systemClock
  mkdirSync(config.dataFolder, { recursive: true, mode: 0o700 })
  stack.use(lockFolder(config.dataFolder))
  const store = stack.use(await openStore(config.dataFolder))
  await store.write(voidLeases)
  const foundation: Foundation = {
    clock,
    random: overrides.random ?? Math.random,
    newId: createIds(clock.now),
    log,
    signals: createEmitter<SignalMap>(error => log.error('listener_failed', { error })),
    config: createLiveConfig(config, environment, log),
    agents: createAgents(config.agentsFolder, environment, log),
    store,
    token: config.token ?? readOrMakeToken(config.dataFolder),
    version: readVersion(),
    startedAt: clock.now(),
    model: overrides.model ?? (await createModel(config.model?.default, clock)),
    compactionModel: await openCompactionModel(config, clock),
    async reloadModel() {
      if (!overrides.model)
        foundation.model = await createModel(foundation.config.current.model?.default, clock)
      foundation.compactionModel = await openCompactionModel(foundation.config.current, clock)
    },
  }
  return foundation
}
