import type { Provider } from '../adapter.ts'
import { type ToolForm, toForm } from '../form/form.ts'
import { openChatAdapter } from '../openai/chat-adapter.ts'
import { isReasoned, REASONED_HISTORY } from './deepseek.ts'
import { GOOGLE_TOOLS, isGemini } from './google.ts'
import { isMistral, MISTRAL_HISTORY, MISTRAL_TOOLS } from './mistral.ts'

/** OpenRouter may hand a request to any of the other providers. */
const OPENROUTER_TOOLS: ToolForm = { ...MISTRAL_TOOLS, plainArguments: true }

/**
 * OpenRouter's API. Its `reasoning_details` carry what the models' own providers want back, both ways
 * (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens). Anthropic's models need cache marks.
 */
export const openrouter: Provider = {
  optional: ['stream_options'],
  /** OpenRouter hands most of a request on unchanged, so the model's name tells whose rules apply. */
  form(entry) {
    const { model } = entry
    if (isMistral(model)) return toForm(entry, MISTRAL_HISTORY, OPENROUTER_TOOLS)
    if (isReasoned(model)) return toForm(entry, { ...REASONED_HISTORY, callIds: 'any' }, OPENROUTER_TOOLS)
    if (!isGemini(model)) return toForm(entry, {}, OPENROUTER_TOOLS)
    // Gemini's details name calls by their ids, so the ids stay unchanged.
    const history = { callIds: 'any', foreignCall: 'gemini-details' } as const
    return toForm(entry, history, { ...GOOGLE_TOOLS, plainArguments: true })
  },
  open: (entry, clock) =>
    openChatAdapter(entry, clock, {
      marksCache: entry.model.startsWith('anthropic/'),
      parameters: entry.reasoning === undefined ? {} : { reasoning: { effort: entry.reasoning } },
    }),
}
