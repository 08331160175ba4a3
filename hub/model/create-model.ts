import type { Clock } from '../core/clock.ts'
import type { Model, Price } from '../core/model.ts'
import { createChain } from './chain.ts'
import type { Circuit } from './circuit.ts'

export interface Provider {
  baseUrl: string
  apiKey?: string
  model: string
  context: number
  maxOutput: number
  price?: Price
}

export interface CreateModelOptions {
  clock: Clock
  /** A provider that was down answers again. */
  onAnswers: (name: string) => void
  /** Shared by all models that one config names: a provider has one circuit, whoever asks it. */
  circuits: Map<string, Circuit>
}

/**
 * The model of a provider with its fallbacks behind circuit breakers, or the built-in one where none is configured;
 * what is not used is not loaded.
 */
export async function createModel(
  provider: Provider | undefined,
  fallback: readonly Provider[],
  { clock, ...options }: CreateModelOptions,
): Promise<Model> {
  if (!provider) {
    const { createCommandsModel } = await import('./commands/commands-model.ts')
    return createCommandsModel()
  }
  const { createOpenAiModel } = await import('./openai/openai-model.ts')
  const toLink = (one: Provider) => ({ model: createOpenAiModel({ ...one, clock }), baseUrl: one.baseUrl })
  return createChain([toLink(provider), ...fallback.map(toLink)], { now: clock.now, ...options })
}
