import type { Provider } from '../adapter.ts'
import { type HistoryForm, TOOLS, type ToolForm, toForm } from '../form/form.ts'
import { openChatAdapter } from '../openai/chat-adapter.ts'
import { isReasoned, REASONED_HISTORY } from './deepseek.ts'
import { GOOGLE_TOOLS, isGemini } from './google.ts'
import { isMistral, MISTRAL_HISTORY } from './mistral.ts'

/**
 * llama.cpp, and LM Studio and Ollama with it, make one grammar of all tools. They refuse the whole request
 * for one rule: `format` and `propertyNames` (https://github.com/ggml-org/llama.cpp/issues/27580), a pattern
 * below the top, and `maxLength` and `maxItems` that multiply (issues 25746, 26596, 27859). The whole grammar
 * is limited too (issue 25895).
 */
const GRAMMAR_TOOLS: ToolForm = {
  ...TOOLS,
  without: [...TOOLS.without, 'format', 'pattern'],
  largestRepeat: 64,
  plainPatterns: true,
}

/** Every server that has OpenAI's chat completions. */
export const compatible: Provider = {
  optional: ['stream_options'],
  /**
   * Some servers take ids of at most 40 characters, as OpenAI itself
   * (https://github.com/vercel/ai/issues/5171). Kimi needs its own ids back.
   */
  form(entry) {
    const { model } = entry
    const history: Partial<HistoryForm> = { reasoning: 'calls' }
    if (isMistral(model)) return toForm(entry, { ...history, ...MISTRAL_HISTORY }, GRAMMAR_TOOLS)
    if (isReasoned(model)) return toForm(entry, { ...REASONED_HISTORY, callIds: 'any' }, GRAMMAR_TOOLS)
    if (!isGemini(model)) return toForm(entry, history, GRAMMAR_TOOLS)
    return toForm(entry, { ...history, foreignCall: 'gemini-placeholder' }, GOOGLE_TOOLS)
  },
  open: (entry, clock) =>
    openChatAdapter(entry, clock, {
      limit: URL.parse(entry.baseUrl)?.hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens',
      parameters: entry.reasoning === undefined ? {} : { reasoning_effort: entry.reasoning },
    }),
}
