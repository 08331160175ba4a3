import type { ModelEntry, Provider } from '../adapter.ts'
import { type HistoryForm, TOOLS, toForm } from '../form/form.ts'
import type { ProviderOptions } from '../sdk/prompt.ts'
import { createSdkAdapter } from '../sdk/sdk-adapter.ts'

/**
 * These models refuse a call without the reasoning that led to it, and take an empty one: DeepSeek on every
 * message (https://github.com/anomalyco/opencode/issues/24722), Kimi on those with calls
 * (https://github.com/HKUDS/nanobot/pull/2598).
 */
export const REASONED_HISTORY: Partial<HistoryForm> = { reasoning: 'all', foreignCall: 'empty-reasoning' }

export const isReasoned = (model: string) => /deepseek|kimi/i.test(model)

/**
 * DeepSeek's API. Its V4 thinks unless told not to, and needs its thoughts back on every message
 * (https://api-docs.deepseek.com/guides/thinking_mode); the package adds an empty one where there is none.
 */
export const deepseek: Provider = {
  form: entry => toForm(entry, REASONED_HISTORY, TOOLS),
  async open(entry, clock) {
    const { createDeepSeek } = await import('@ai-sdk/deepseek')
    return createSdkAdapter(entry, clock, {
      toModel: settings => createDeepSeek(settings).languageModel(entry.model),
      toOptions: () => toThinking(entry),
    })
  },
}

function toThinking({ reasoning }: ModelEntry): ProviderOptions {
  if (reasoning === undefined) return {}
  if (reasoning === 'none') return { deepseek: { thinking: { type: 'disabled' } } }
  return { deepseek: { thinking: { type: 'enabled' }, reasoningEffort: reasoning } }
}
