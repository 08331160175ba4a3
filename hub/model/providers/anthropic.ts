import { PROVIDERS } from '../../../schemas/providers.ts'
import type { ModelEntry, Provider } from '../adapter.ts'
import { FORMS } from '../form/forms.ts'
import type { ProviderOptions } from '../sdk/language-model.ts'
import { createSdkAdapter } from '../sdk/sdk-adapter.ts'

/** Tokens of thought; at least 1,024. Where a model decides that itself, the package says so in place of it. */
const BUDGETS = { low: 1_024, medium: 4_096, high: 16_384 }

/** Anthropic's Messages API. Its prompt cache ends where it is marked. */
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
  // Those that came before know no effort, and refuse it.
  const takesEffort = /(opus|sonnet|haiku|fable|mythos)-(5|4-[6-9])/.test(model)
  return { anthropic: { thinking, ...(takesEffort && { effort: reasoning }) } }
}
