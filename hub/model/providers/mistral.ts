import type { Provider } from '../adapter.ts'
import { type HistoryForm, TOOLS, type ToolForm, toForm } from '../form/form.ts'
import { createSdkAdapter } from '../sdk/sdk-adapter.ts'

/** Mistral makes a grammar of the schemas: https://github.com/SylphxAI/pdf-reader-mcp/issues/63 */
export const MISTRAL_TOOLS: ToolForm = { ...TOOLS, plainPatterns: true }

/**
 * Mistral's own API and the templates of its open models need ids of nine characters (error 3280,
 * https://github.com/editor-code-assistant/eca/issues/233) and refuse a user's message after results (error
 * 3230, https://github.com/NousResearch/hermes-agent/pull/84944).
 */
export const MISTRAL_HISTORY: Partial<HistoryForm> = { callIds: 'nine', bridge: true, reasoning: 'none' }

export const isMistral = (model: string) => /(mis|minis|magis|pix|mix)tral|devstral|codestral/i.test(model)

export const mistral: Provider = {
  /** The AI SDK's package writes pictures in results as JSON, so pictures follow the results. */
  form: entry => toForm(entry, MISTRAL_HISTORY, MISTRAL_TOOLS),
  async open(entry, clock) {
    const { createMistral } = await import('@ai-sdk/mistral')
    return createSdkAdapter(entry, clock, {
      toModel: settings => createMistral(settings).languageModel(entry.model),
      // Mistral has no levels of reasoning, only on and off.
      toOptions: () =>
        entry.reasoning === undefined
          ? {}
          : { mistral: { reasoningEffort: entry.reasoning === 'none' ? 'none' : 'high' } },
    })
  },
}
