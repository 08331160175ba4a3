import { PROVIDERS } from '../../../schemas/providers.ts'
import type { Provider } from '../adapter.ts'
import { FORMS } from '../form/forms.ts'
import { createSdkAdapter } from '../sdk/sdk-adapter.ts'

export const mistral: Provider = {
  name: 'mistral',
  ...PROVIDERS.mistral,
  form: FORMS.mistral,
  async open(entry, { clock }) {
    const { createMistral } = await import('@ai-sdk/mistral')
    return createSdkAdapter(entry, {
      clock,
      toModel: settings => createMistral(settings).languageModel(entry.model),
      // Mistral has no levels of reasoning, only on and off.
      toOptions: () =>
        entry.reasoning === undefined
          ? {}
          : { mistral: { reasoningEffort: entry.reasoning === 'none' ? 'none' : 'high' } },
    })
  },
}
