import { PROVIDERS } from '../../../schemas/providers.ts'
import type { Provider } from '../adapter.ts'
import { FORMS } from '../form/forms.ts'
import { openChatAdapter } from '../openai/chat-adapter.ts'

/**
 * OpenRouter's API. Its `reasoning_details` carry what the models' own providers want back, both ways
 * (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens). Anthropic's models need cache marks.
 */
export const openrouter: Provider = {
  name: 'openrouter',
  ...PROVIDERS.openrouter,
  optional: ['stream_options'],
  form: FORMS.openrouter,
  open: (entry, options) =>
    openChatAdapter(entry, options, {
      marksCache: entry.model.startsWith('anthropic/'),
      parameters: entry.reasoning === undefined ? {} : { reasoning: { effort: entry.reasoning } },
    }),
}
