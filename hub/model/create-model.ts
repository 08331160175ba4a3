import type { ProviderName } from '../../schemas/providers.ts'
import type { Clock } from '../core/clock.ts'
import type { Model } from '../core/model.ts'
import type { ModelEntry } from './adapter.ts'
import { createChain } from './chain.ts'
import type { Circuit } from './circuit.ts'
import type { QuirkStore } from './repair/quirks.ts'
import type { RepairingOptions } from './repair/repairing-model.ts'

export interface CreateModelOptions {
  clock: Clock
  /** A provider that was down answers again. */
  onAnswers: (name: string) => void
  /** Gets an entry each time that its provider answers. */
  onAnswer?: (entry: ModelEntry) => void
  /** Shared by all models that one config names: a provider has one circuit, whoever asks it. */
  circuits: Map<string, Circuit>
  quirks: QuirkStore
  /** Tells which keys there are. */
  environment: (name: string) => string | undefined
}

/**
 * A configured model with its fallbacks behind circuit breakers, or the built-in one where none is configured; what is
 * not used is not loaded.
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

/** One configured model. */
export async function openModel(entry: ModelEntry, options: RepairingOptions): Promise<Model> {
  const { providers } = await import('./providers/index.ts')
  const { createRepairingModel } = await import('./repair/repairing-model.ts')
  return createRepairingModel(providers[entry.provider as ProviderName], entry, options)
}

/** Remembers nothing. */
export const NO_QUIRKS: QuirkStore = { load: async () => undefined, save: async () => undefined }
