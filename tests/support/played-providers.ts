import { type Clock, systemClock } from '../../hub/core/clock.ts'
import type { Model } from '../../hub/core/model.ts'
import type { ModelEntry } from '../../hub/model/adapter.ts'
import { createModel, NO_QUIRKS } from '../../hub/model/create-model.ts'
import type { QuirkStore } from '../../hub/model/repair/repairs.ts'
import type { ProviderName } from '../../schemas/providers.ts'
import { startAnthropicMimic } from './mimics/anthropic.ts'
import { startDeepSeekMimic } from './mimics/deepseek.ts'
import { startGoogleMimic } from './mimics/google.ts'
import { startGroqMimic } from './mimics/groq.ts'
import { startLlamaCppMimic } from './mimics/llama-cpp.ts'
import { startLmStudioMimic } from './mimics/lm-studio.ts'
import type { Mimic, Script, Turn } from './mimics/mimic.ts'
import { startMistralMimic } from './mimics/mistral.ts'
import { startOllamaMimic } from './mimics/ollama.ts'
import { startOpenAiChatMimic } from './mimics/openai-chat.ts'
import { startOpenAiResponsesMimic } from './mimics/openai-responses.ts'
import { startOpenRouterMimic } from './mimics/openrouter.ts'
import { startVllmMimic } from './mimics/vllm.ts'

/** A mimic, and the configuration of its model. */
export interface PlayedProvider {
  name: string
  mimic: string
  entry: { provider: ProviderName; model: string; reasoning?: 'none' }
  /** The rules that refuse the very first request; its repair is then remembered. */
  refusesFirst: readonly string[]
  start(script: Script, vision: boolean): Promise<Mimic>
}

const toPlayed = (
  mimic: string,
  provider: ProviderName,
  model: string,
  start: (script: Script, vision: boolean) => Promise<Mimic>,
): PlayedProvider => ({
  name: provider === 'openrouter' ? `openrouter ${model}` : mimic,
  mimic,
  entry: { provider, model },
  refusesFirst: [],
  start,
})

/** Every mimic with the hub's provider for it. */
export const PLAYED: readonly PlayedProvider[] = [
  toPlayed('openai-responses', 'openai', 'gpt-5.4', startOpenAiResponsesMimic),
  toPlayed('anthropic', 'anthropic', 'claude-opus-4-6', startAnthropicMimic),
  toPlayed('google', 'google', 'gemini-3-pro', startGoogleMimic),
  toPlayed('mistral', 'mistral', 'mistral-large-latest', startMistralMimic),
  toPlayed('deepseek', 'deepseek', 'deepseek-v4-flash', startDeepSeekMimic),
  toPlayed('openrouter', 'openrouter', 'google/gemini-3-pro', startOpenRouterMimic),
  toPlayed('openrouter', 'openrouter', 'mistralai/mistral-large', startOpenRouterMimic),
  toPlayed('openrouter', 'openrouter', 'anthropic/claude-opus-4.6', startOpenRouterMimic),
  toPlayed('groq', 'compatible', 'openai/gpt-oss-120b', startGroqMimic),
  toPlayed('llama-cpp', 'compatible', 'qwen3.gguf', (script, vision) =>
    startLlamaCppMimic(script, { vision }),
  ),
  toPlayed('lm-studio', 'compatible', 'qwen/qwen3-8b', (script, vision) =>
    startLmStudioMimic(script, { vision }),
  ),
  toPlayed('ollama', 'compatible', 'qwen3:8b', (script, vision) => startOllamaMimic(script, { vision })),
  toPlayed('vllm', 'compatible', 'Qwen/Qwen3-8B', script => startVllmMimic(script)),
  {
    ...toPlayed('vllm', 'compatible', 'mistralai/Mistral-Small', script =>
      startVllmMimic(script, { alternates: true, omitsIds: true }),
    ),
    name: "vllm with Mistral's template",
  },
]

/** OpenAI's older API at a gateway's address, where the token limit has another name. */
export const OPENAI_CHAT: PlayedProvider = {
  ...toPlayed('openai-chat', 'compatible', 'gpt-5.4', startOpenAiChatMimic),
  entry: { provider: 'compatible', model: 'gpt-5.4', reasoning: 'none' },
  refusesFirst: ['`max_tokens`'],
}

/** The sizes of every model in a world. */
export const SIZES = { context: 65_536, maxOutput: 4_096 }

export interface PlayedModel extends AsyncDisposable {
  readonly mimic: Mimic
  readonly model: Model
  /** Adds turns to the script; each request uses one. */
  script(...turns: readonly Turn[]): void
  /** Number of unused turns. */
  readonly left: number
}

interface PlayOptions {
  vision?: boolean
  temperature?: number
  quirks?: QuirkStore
  clock?: Clock
  answer?: (body: string, mimic: Mimic) => Turn | undefined
}

/**
 * Opens a provider's mimic and its model, as the hub opens it. `answer` is called first, and may return a
 * turn that is not in the script.
 */
export async function openPlayed(
  { entry, start }: PlayedProvider,
  options: PlayOptions = {},
): Promise<PlayedModel> {
  const { vision = false, quirks = NO_QUIRKS, clock = systemClock, temperature, answer } = options
  const turns: Turn[] = []
  const mimic: Mimic = await start(({ body }) => {
    const turn = answer?.(JSON.stringify(body), mimic) ?? turns.shift()
    return turn ?? { failure: { status: 500, body: { error: 'The script has no more turns' } } }
  }, vision)
  const filled: ModelEntry = {
    ...SIZES,
    ...entry,
    baseUrl: mimic.url,
    apiKey: 'sk-none',
    vision,
    temperature,
  }
  return {
    mimic,
    model: await createModel(filled, [], {
      clock,
      quirks,
      onAnswers: () => undefined,
      circuits: new Map(),
      environment: () => undefined,
    }),
    script: (...more) => void turns.push(...more),
    get left() {
      return turns.length
    },
    [Symbol.asyncDispose]: () => mimic[Symbol.asyncDispose](),
  }
}
