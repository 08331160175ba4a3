import type { ProviderName } from '../../schemas/providers.ts'
import type { Clock } from '../core/clock.ts'
import type { Model } from '../core/model.ts'
import type { ModelEntry } from './adapter.ts'
import { createChain } from './chain.ts'
import type { Circuit } from './circuit.ts'
import type { RepairingOptions } from './repair/repairing-model.ts'
import type { QuirkStore } from './repair/repairs.ts'

export interface CreateModelOptions {
  clock: Clock
  /** Called when a provider that was down answers again. */
  onAnswers: (name: string) => void
  /** Called with an entry each time its provider answers. */
  onAnswer?: (entry: ModelEntry) => void
  /** Circuits of all models that one config names: a provider has one, whichever model asks it. */
  circuits: Map<string, Circuit>
  quirks: QuirkStore
  /** Reads an environment variable, to tell which keys are set. */
  environment: (name: string) => string | undefined
}

/**
 * Returns the configured model with its fallbacks behind circuit breakers, or the built-in commands model
 * where none is configured. It loads only the modules that it needs.
 */
export async function createModel(
  first: ModelEntry | undefined,
  fallback: readonly ModelEntry[],
  { quirks, environment, onAnswer, ...options }: CreateModelOptions,
): Promise<Model> {
  if (!first) {
    const { createCommandsModel } = await import('./commands/commands-model.ts')
    const { findModels } = await import('./find-models.ts')
    return createCommandsModel(() => findModels({ environment, clock: options.clock }))
  }
  const { clock } = options
  const toLink = async (entry: ModelEntry) => ({
    model: await openModel(entry, { clock, quirks }),
    baseUrl: entry.baseUrl,
    onAnswer: () => onAnswer?.(entry),
  })
  const others = await Promise.all(fallback.map(toLink))
  return createChain([await toLink(first), ...others], { now: clock.now, ...options })
}

/** Returns one configured model, without fallbacks and without a circuit. */
export async function openModel(entry: ModelEntry, options: RepairingOptions): Promise<Model> {
  const { providers } = await import('./providers/index.ts')
  const { createRepairingModel } = await import('./repair/repairing-model.ts')
  return createRepairingModel(providers[entry.provider as ProviderName], entry, options)
}

/** A quirk store that remembers nothing. */
export const NO_QUIRKS: QuirkStore = { load: async () => undefined, save: async () => undefined }
