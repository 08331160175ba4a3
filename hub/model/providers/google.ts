import { PROVIDERS } from '../../../schemas/providers.ts'
import type { ModelEntry, Provider } from '../adapter.ts'
import { FORMS } from '../form/forms.ts'
import type { ProviderOptions } from '../sdk/language-model.ts'
import { createSdkAdapter } from '../sdk/sdk-adapter.ts'

const BUDGETS = { none: 0, low: 1_024, medium: 8_192, high: 24_576 }

/** Gemini's own API. The package signs the calls of other models with Google's stand-in for a signature. */
export const google: Provider = {
  name: 'google',
  ...PROVIDERS.google,
  temperature: 'generationConfig.temperature',
  form: FORMS.google,
  async open(entry, { clock }) {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
    return createSdkAdapter(entry, {
      clock,
      toModel: ({ baseURL, ...settings }) =>
        // Google's address for OpenAI's clients (`/openai`) means the same provider.
        createGoogleGenerativeAI({ ...settings, baseURL: baseURL.replace(/\/openai\/?$/, '') }).languageModel(
          entry.model,
        ),
      toOptions: () => toThinking(entry),
    })
  },
}

/** Gemini 3 takes a level of thinking; earlier models take a budget of tokens. */
function toThinking({ reasoning, model }: ModelEntry): ProviderOptions {
  if (reasoning === undefined) return {}
  const level = reasoning === 'none' ? 'minimal' : reasoning
  const config = /gemini-[12]\b/.test(model)
    ? { thinkingBudget: BUDGETS[reasoning] }
    : { thinkingLevel: level }
  return { google: { thinkingConfig: config } }
}
