import { PROVIDERS } from '../../../schemas/providers.ts'
import type { ModelEntry, Provider } from '../adapter.ts'
import { FORMS } from '../form/forms.ts'
import type { ProviderOptions } from '../sdk/language-model.ts'
import { createSdkAdapter } from '../sdk/sdk-adapter.ts'

/** Tokens of thinking; at least 1,024. Models that set their own budget get that mode from the package. */
const BUDGETS = { low: 1_024, medium: 4_096, high: 16_384 }

/** Anthropic's Messages API, whose prompt cache ends at the marks in a request. */
export const anthropic: Provider = {
  name: 'anthropic',
  ...PROVIDERS.anthropic,
  form: FORMS.anthropic,
  async open(entry, { clock }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createSdkAdapter(entry, {
      clock,
      toModel: settings => createAnthropic(settings).languageModel(entry.model),
      toOptions: () => toThinking(entry),
      mark: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    })
  },
}

function toThinking({ reasoning, model }: ModelEntry): ProviderOptions {
  if (reasoning === undefined) return {}
  if (reasoning === 'none') return { anthropic: { thinking: { type: 'disabled' } } }
  const thinking = { type: 'enabled', budgetTokens: BUDGETS[reasoning] }
  // Older models do not know `effort` and refuse it.
  const takesEffort = /(opus|sonnet|haiku|fable|mythos)-(5|4-[6-9])/.test(model)
  return { anthropic: { thinking, ...(takesEffort && { effort: reasoning }) } }
}
