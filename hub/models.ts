import type { Environment } from './config/environment.ts'
import { allModels, type ModelConfig, type ModelsConfig } from './config/models.ts'
import type { Clock } from './core/clock.ts'
import type { Log } from './core/log.ts'
import type { Model } from './core/model.ts'
import type { Signals } from './core/signals.ts'
import type { ModelEntry } from './model/adapter.ts'
import { createChain } from './model/chain.ts'
import { createModel } from './model/create-model.ts'
import { openSizedEntry } from './model/sizes.ts'
import { readModelQuirks, saveModelQuirks } from './store/hub-state.ts'
import type { Store } from './store/open.ts'

/** The models of a config. */
export interface Models {
  /** Default model, with its fallbacks. */
  readonly model: Model
  /** Models that agents choose by name, with the same fallbacks. */
  readonly namedModels: ReadonlyMap<string, Model>
  /** Model that writes summaries; undefined where the default model does. */
  readonly compactionModel: Model | undefined
}

interface ModelsOptions {
  clock: Clock
  log: Log
  signals: Signals
  store: Store
  environment: Environment
  /** Gets all models anew when a provider reports a model's sizes late; the old ones still answer. */
  onChange: (models: Models) => void
}

/** Opens a config's models, or the built-in one where it names none. `override` replaces all of them. */
export async function openModels(
  config: ModelsConfig | undefined,
  override: Model | undefined,
  options: ModelsOptions,
): Promise<Models> {
  const { clock, log, signals, environment, onChange } = options
  const onAnswers = (name: string) => signals.emit('modelAnswers', { name })
  if (override) {
    const model = createChain([{ model: override }], { now: clock.now, onAnswers })
    return { model, namedModels: new Map(), compactionModel: undefined }
  }
  // All providers are asked for their sizes at once: several unreachable ones delay a start only once.
  const opened = allModels(config).map(async entry => [entry, await openSizedEntry(entry, clock)] as const)
  const sized = new Map(await Promise.all(opened))
  const quirks = createQuirkStore(options)
  const created = { clock, onAnswers, onAnswer, circuits: new Map(), quirks, environment }
  let learning = Promise.resolve()

  function onAnswer(entry: ModelEntry): void {
    const learn = async () => {
      const one = [...sized.values()].find(each => each.entry === entry)
      if (!(await one?.askAgain())) return
      const { model, context, maxOutput } = one?.entry ?? entry
      log.info('model_sizes_changed', { model, context, maxOutput })
      onChange(await create())
    }
    learning = learning.then(learn).catch(error => log.error('model_sizes_not_taken', { error }))
  }

  async function create(): Promise<Models> {
    const entryOf = (written: ModelConfig) => sized.get(written)?.entry
    const entriesOf = (written: readonly ModelConfig[] = []) => written.flatMap(each => entryOf(each) ?? [])
    const fallback = entriesOf(config?.fallback)
    const open = (written: ModelConfig | undefined, others = fallback) =>
      createModel(written && entryOf(written), others, created)
    const named = Object.entries(config?.named ?? {}).map(
      async ([name, written]) => [name, await open(written)] as const,
    )
    return {
      model: await open(config?.default),
      namedModels: new Map(await Promise.all(named)),
      compactionModel: config?.compaction && (await open(config.compaction, [])),
    }
  }

  return create()
}

function createQuirkStore({ store, log }: ModelsOptions) {
  return {
    load: (key: string) => readModelQuirks(store.db, key),
    // The error is only logged: the reply must not be lost together with the quirk that it taught.
    save: (key: string, value: unknown) =>
      store
        .write(tx => saveModelQuirks(tx, key, value))
        .catch(error => log.warn('model_quirks_not_saved', { error })),
  }
}
