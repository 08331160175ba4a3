import { PROVIDERS } from '../../../schemas/providers.ts'
import type { Provider } from '../adapter.ts'
import { FORMS } from '../form/forms.ts'
import { openChatAdapter } from '../openai/chat-adapter.ts'

/**
 * OpenRouter. What the models' own providers want back comes and goes as `reasoning_details`
 * (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens); Anthropic's models want its marks of the cache.
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
