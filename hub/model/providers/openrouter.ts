import { PROVIDERS } from '../../../schemas/providers.ts'
import type { Provider } from '../adapter.ts'
import { openChatAdapter } from '../openai/chat-adapter.ts'
import { MISTRAL_HISTORY, toForm } from './forms.ts'

/**
 * OpenRouter. What the models' own providers want back comes and goes as `reasoning_details`
 * (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens); Anthropic's models want its marks of the cache.
 */
export const openrouter: Provider = {
  name: 'openrouter',
  ...PROVIDERS.openrouter,
  optional: ['stream_options'],
  form: entry =>
    toForm(entry, {
      ...(/mistral|codestral|devstral/.test(entry.model) && MISTRAL_HISTORY),
      startsWithUser: true,
      foreignCall: /gemini-[3-9]/.test(entry.model) ? 'gemini-placeholder' : 'nothing',
    }),
  open: (entry, options) =>
    openChatAdapter(entry, options, {
      marksCache: entry.model.startsWith('anthropic/'),
      parameters: entry.reasoning === undefined ? {} : { reasoning: { effort: entry.reasoning } },
    }),
}
