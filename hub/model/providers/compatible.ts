import { PROVIDERS } from '../../../schemas/providers.ts'
import type { ModelEntry, Provider } from '../adapter.ts'
import { FORMS } from '../form/forms.ts'
import { openChatAdapter } from '../openai/chat-adapter.ts'

/** Every server that has OpenAI's chat completions. */
export const compatible: Provider = {
  name: 'compatible',
  ...PROVIDERS.compatible,
  optional: ['stream_options'],
  form: FORMS.compatible,
  open: (entry, options) =>
    openChatAdapter(entry, options, {
      limit: hostOf(entry) === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens',
      parameters: entry.reasoning === undefined ? {} : { reasoning_effort: entry.reasoning },
    }),
}

function hostOf({ baseUrl }: ModelEntry): string | undefined {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname : undefined
}
