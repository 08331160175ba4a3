import { providers } from '../../providers/index.ts'
import type { Form } from '../form.ts'

const MODELS: readonly [provider: keyof typeof providers, model: string][] = [
  ['openai', 'gpt-5.4'],
  ['anthropic', 'claude-opus-4-6'],
  ['google', 'gemini-3-pro'],
  ['mistral', 'mistral-large-latest'],
  ['deepseek', 'deepseek-v4'],
  ['openrouter', 'anthropic/claude-opus-4.6'],
  ['openrouter', 'google/gemini-3-pro'],
  ['openrouter', 'mistralai/mistral-large'],
  ['openrouter', 'deepseek/deepseek-v4'],
  ['compatible', 'qwen3'],
  ['compatible', 'gemini-3-pro'],
  ['compatible', 'devstral-small'],
  ['compatible', 'kimi-k2'],
]

/** Forms of every provider, and of each kind of model behind the providers that have many. */
export const ALL_FORMS: readonly Form[] = MODELS.flatMap(([provider, model]) =>
  [true, false].map(vision => providers[provider].form({ provider, baseUrl: 'http://h/v1', model, vision })),
)
