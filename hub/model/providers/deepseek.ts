import { PROVIDERS } from '../../../schemas/providers.ts'
import type { ModelEntry, Provider } from '../adapter.ts'
import { FORMS } from '../form/forms.ts'
import type { ProviderOptions } from '../sdk/language-model.ts'
import { createSdkAdapter } from '../sdk/sdk-adapter.ts'

/**
 * DeepSeek's API. Its V4 thinks unless told not to, and needs its thoughts back on every message
 * (https://api-docs.deepseek.com/guides/thinking_mode); the package adds an empty one where there is none.
 */
export const deepseek: Provider = {
  name: 'deepseek',
  ...PROVIDERS.deepseek,
  form: FORMS.deepseek,
  async open(entry, { clock }) {
    const { createDeepSeek } = await import('@ai-sdk/deepseek')
    return createSdkAdapter(entry, {
      clock,
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
