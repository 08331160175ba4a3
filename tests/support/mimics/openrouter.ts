import { type ChatRequest, callsOf, findUnpaired, playChat, readChat } from './chat.ts'
import { isGoogleSignature, missingSignature } from './google.ts'
import { type Json, toObject, toObjects, toText } from './json.ts'
import { createCheck, type Fault, type Provider, type Rule, type Script, startMimic } from './mimic.ts'
import { NO_KEY } from './openai-rules.ts'

const FORMAT = 'google-gemini-v1'

/** Returns the message of the provider behind OpenRouter. */
const upstream = (message: string): Fault => ({
  message: `${JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }, null, 2)}\n`,
})

const PRESERVE =
  'Gemini models require OpenRouter reasoning details to be preserved in each request. Please refer to our docs: https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning-blocks. Upstream error: '

const encrypted = (message: Json) =>
  toObjects(message['reasoning_details']).filter(({ type }) => type === 'reasoning.encrypted')

/** Rules of OpenRouter with Gemini 3. */
export const openRouterRules: Rule<ChatRequest>[] = [
  {
    what: 'calls of the current turn without their `reasoning_details` (Gemini 3 and later)',
    source: 'https://github.com/LibreChat-AI/agents/issues/37',
    *find({ body, messages }) {
      if (!/^google\/gemini-(?![12])/.test(toText(body['model']))) return
      const turn = messages.findLastIndex(({ role }) => role === 'user')
      for (const [at, message] of messages.entries()) {
        const [first] = callsOf(message)
        if (at > turn && first && encrypted(message).length === 0) {
          const { message: said } = upstream(missingSignature(toObject(first['function'])['name'], at))
          yield { message: `${PRESERVE}${said}` }
        }
      }
    },
  },
  {
    what: 'several encrypted `reasoning_details` in a message, or one that does not belong to the first call',
    source: 'https://github.com/RooCodeInc/Roo-Code/pull/10640',
    *find({ messages }) {
      for (const message of messages) {
        const [first, second] = encrypted(message)
        const id = callsOf(message)[0]?.['id']
        if (second || (first && id !== undefined && first['id'] !== id))
          yield upstream('Unable to submit request because Thought signature is not valid')
      }
    },
  },
  {
    what: 'encrypted `reasoning_details` that it did not make',
    source: 'https://github.com/anomalyco/opencode/issues/4832',
    *find({ messages }, issued) {
      for (const { data } of messages.flatMap(encrypted))
        if (!isGoogleSignature(data, issued)) yield upstream('Corrupted thought signature.')
    },
  },
  {
    what: 'another number of results than of calls',
    source: 'https://github.com/lobehub/lobehub/issues/7298',
    *find({ messages }) {
      for (const _ of findUnpaired(messages))
        yield upstream(
          'Please ensure that function response turn comes immediately after a function call turn.',
        )
    },
  },
]

/** The answer of `/models`; prices are money per token. */
const MODELS = {
  data: [
    {
      id: 'google/gemini-3-flash-preview',
      context_length: 1_048_576,
      architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
      pricing: { prompt: '0.0000005', completion: '0.000003', input_cache_read: '0.00000005' },
      top_provider: { context_length: 1_048_576, max_completion_tokens: 65_535 },
      supported_parameters: ['tools', 'reasoning', 'max_tokens', 'temperature'],
    },
  ],
}

const openRouter: Provider<ChatRequest> = {
  name: 'openrouter',
  base: '/api/v1',
  path: /^\/chat\/completions$/,
  key: NO_KEY,
  rules: openRouterRules,
  read: readChat,
  refuse: ({ status: code = 400, message }) => ({
    status: code,
    body:
      code === 400
        ? {
            error: {
              message: 'Provider returned error',
              code,
              metadata: { raw: message, provider_name: 'Google AI Studio' },
            },
            user_id: 'user_2x',
          }
        : { error: { message, code } },
  }),
  *play(turn, playing) {
    // Comments keep the connection open until the provider behind it starts.
    yield ': OPENROUTER PROCESSING\n\n'
    yield* playChat(turn, playing, {
      reasoning: text => ({
        content: '',
        reasoning: text,
        reasoning_details: [{ type: 'reasoning.text', text, format: FORMAT, index: 0 }],
      }),
      callId: ({ issue }) => issue('tool_', 20),
      calls: 'whole',
      usage: 'own-chunk',
      closing: (_, { issue }, [id]) =>
        id === undefined
          ? []
          : [
              {
                reasoning_details: [
                  { type: 'reasoning.encrypted', data: issue('EpEg', 96), format: FORMAT, id, index: 0 },
                ],
              },
            ],
      moreUsage: () => ({ cost: 0.0001 }),
    })
  },
  pages: { '/api/v1/models': MODELS },
}

export const checkOpenRouter = createCheck(openRouter)
export const startOpenRouterMimic = (script: Script) => startMimic(openRouter, script)
