import { modelsOf } from '../../schemas/models.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Model, ModelConfig, ModelsConfig } from '../core/model.ts'
import type { Signals } from '../core/signals.ts'
import { readModelQuirks, saveModelQuirks } from '../store/hub-state.ts'
import type { Store } from '../store/open.ts'
import type { ModelEntry } from './adapter.ts'
import { createChain } from './chain.ts'
import { createModel } from './create-model.ts'
import { openSizedEntry } from './sizes.ts'

interface Models {
  /** Default model, with its fallbacks. */
  default: Model
  /** Models that agents choose by name, with the same fallbacks. */
  named: ReadonlyMap<string, Model>
  /** Model that writes summaries; undefined where the default model does. */
  compaction: Model | undefined
}

export type LiveModels = Awaited<ReturnType<typeof openModels>>

interface ModelsOptions {
  clock: Clock
  log: Log
  signals: Signals
  store: Store
  environment: (name: string) => string | undefined
  /** Replaces all models of the config. */
  override: Model | undefined
}

/** Opens a config's models, or the built-in one where it names none. */
export async function openModels(config: ModelsConfig | undefined, options: ModelsOptions) {
  let newest = config
  const open = (of: ModelsConfig | undefined) =>
    createModels(of, options, changed => {
      if (of === newest) live.current = changed
    })
  const live = {
    current: await open(config),
    async reload(next: ModelsConfig | undefined) {
      newest = next
      live.current = await open(next)
    },
  }
  return live
}

/** `onChange` gets all models anew when a provider reports a model's sizes late; the old ones still answer. */
async function createModels(
  config: ModelsConfig | undefined,
  options: ModelsOptions,
  onChange: (models: Models) => void,
): Promise<Models> {
  const { clock, log, signals, store, environment, override } = options
  const onAnswers = (name: string) => signals.emit('modelAnswers', { name })
  if (override) {
    const model = createChain([{ model: override }], { now: clock.now, onAnswers })
    return { default: model, named: new Map(), compaction: undefined }
  }
  // All providers are asked for their sizes at once: several unreachable ones delay a start only once.
  const opened = modelsOf(config).map(async entry => [entry, await openSizedEntry(entry, clock)] as const)
  const sized = new Map(await Promise.all(opened))
  const quirks = {
    load: (key: string) => readModelQuirks(store.db, key),
    // The error is only logged: the reply must not be lost together with the quirk that it taught.
    save: (key: string, value: unknown) =>
      store
        .write(tx => saveModelQuirks(tx, key, value))
        .catch(error => log.warn('model_quirks_not_saved', { error })),
  }
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
      default: await open(config?.default),
      named: new Map(await Promise.all(named)),
      compaction: config?.compaction && (await open(config.compaction, [])),
    }
  }

  return create()
}
