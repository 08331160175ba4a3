import type { Clock } from '../core/clock.ts'
import type { Model, Price } from '../core/model.ts'

export interface Provider {
  baseUrl: string
  apiKey?: string
  model: string
  context: number
  maxOutput: number
  price?: Price
}

/** The model of a provider, or the built-in one where none is configured; what is not used is not loaded. */
export async function createModel(provider: Provider | undefined, clock: Clock): Promise<Model> {
  if (!provider) {
    const { createRulesModel } = await import('./rules/rules-model.ts')
    return createRulesModel()
  }
  const { createOpenAiModel } = await import('./openai/openai-model.ts')
  return createOpenAiModel({ ...provider, clock })
}
