import type { ModelEntry, Provider } from '../adapter.ts'
import { TOOLS, type ToolForm, toForm } from '../form/form.ts'
import type { ProviderOptions } from '../sdk/prompt.ts'
import { createSdkAdapter } from '../sdk/sdk-adapter.ts'

const BUDGETS = { none: 0, low: 1_024, medium: 8_192, high: 24_576 }

/**
 * Google's dialect is OpenAPI's: it needs a type everywhere
 * (https://github.com/danny-avila/LibreChat/issues/6971), and knows only the formats `enum` and `date-time`
 * of texts.
 */
export const GOOGLE_TOOLS: ToolForm = { ...TOOLS, without: [...TOOLS.without, 'format'], typed: true }

export const isGemini = (model: string) => /gemini/i.test(model)

/** Gemini's own API. The package signs the calls of other models with Google's stand-in for a signature. */
export const google: Provider = {
  temperature: 'generationConfig.temperature',
  /**
   * Gemini needs calls right after the user or results
   * (https://github.com/google-gemini/gemini-cli/issues/11814). Only Gemini 3 takes pictures in results, so
   * pictures follow the results.
   */
  form: entry => toForm(entry, {}, GOOGLE_TOOLS),
  async open(entry, clock) {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
    return createSdkAdapter(entry, clock, {
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
