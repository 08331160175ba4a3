import { PROVIDERS } from '../../../schemas/providers.ts'
import type { ModelEntry, Provider } from '../adapter.ts'
import { openChatAdapter } from '../openai/chat-adapter.ts'
import { toForm } from './forms.ts'

/**
 * Every server with OpenAI's chat completions. llama.cpp and LM Studio turn schemas into a grammar, which knows neither
 * formats nor names of properties by pattern, and repeats a rule for each character of a `maxLength`
 * (https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md). What a model thought goes back to it with its
 * calls alone: chat templates take the rest away.
 */
export const compatible: Provider = {
  name: 'compatible',
  ...PROVIDERS.compatible,
  optional: ['stream_options'],
  form: entry =>
    toForm(
      entry,
      { reasoning: 'calls', foreignCall: isGemini(entry) ? 'gemini-placeholder' : 'nothing' },
      {
        inlineRefs: true,
        without: ['$schema', '$id', '$comment', 'format', 'propertyNames', 'patternProperties'],
        largestRepeat: 256,
        plainPatterns: true,
      },
    ),
  open: (entry, options) =>
    openChatAdapter(entry, options, {
      limit: hostOf(entry) === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens',
      parameters: entry.reasoning === undefined ? {} : { reasoning_effort: entry.reasoning },
    }),
}

/** Gemini 3 behind a gateway: it refuses calls without a signature there too. */
function isGemini({ model }: ModelEntry): boolean {
  return /gemini-[3-9]/.test(model)
}

function hostOf({ baseUrl }: ModelEntry): string | undefined {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname : undefined
}
