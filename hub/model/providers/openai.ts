import { createHash } from 'node:crypto'
import { PROVIDERS } from '../../../schemas/providers.ts'
import type { Provider } from '../adapter.ts'
import { FORMS } from '../form/forms.ts'
import { createSdkAdapter } from '../sdk/sdk-adapter.ts'

/**
 * OpenAI's Responses API: its newer models refuse tools at chat completions unless they do not reason.
 * Nothing is stored there; the package asks for encrypted thoughts, which go back with the history.
 */
export const openai: Provider = {
  name: 'openai',
  ...PROVIDERS.openai,
  form: FORMS.openai,
  async open(entry, { clock }) {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return createSdkAdapter(entry, {
      clock,
      toModel: settings => createOpenAI(settings).responses(entry.model),
      // A strict schema allows no optional arguments.
      strict: false,
      toOptions: ({ system }) => ({
        openai: {
          store: false,
          promptCacheKey: createHash('sha256').update(system).digest('hex').slice(0, 32),
          ...(entry.reasoning && { reasoningEffort: entry.reasoning }),
        },
      }),
    })
  },
}
