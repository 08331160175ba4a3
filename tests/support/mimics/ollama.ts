import { type ChatRequest, callsOf, hasImage, partsOf, playChat, readChat } from './chat.ts'
import { brokenArguments } from './grammar.ts'
import { createCheck, type Provider, type Rule, type Script, startMimic } from './mimic.ts'
import { refuseAsOpenAi } from './openai-rules.ts'

export interface OllamaOptions {
  /** Tokens of the context that it was started with; a longer prompt is cut silently. */
  numCtx?: number
  /** Tokens of the context that the model supports. */
  context?: number
  tools?: boolean
  vision?: boolean
  /** The part of its context that it fills from a longer prompt: half since 2026, all of it before. */
  keeps?: 'half' | 'all'
}

const SOURCE = 'https://github.com/ollama/ollama/blob/main/openai/openai.go'

const createRules = ({ tools: canCall = true, vision = false }: OllamaOptions): Rule<ChatRequest>[] => [
  {
    what: 'tools, where the model takes none',
    source: 'https://github.com/ollama/ollama/issues/6027',
    *find({ body, tools }) {
      if (!canCall && tools.length > 0)
        yield {
          type: 'api_error',
          message: `registry.ollama.ai/library/${body['model']} does not support tools`,
        }
    },
  },
  {
    what: 'content that is missing, except beside calls',
    source: SOURCE,
    *find({ messages }) {
      for (const message of messages)
        if ((message['content'] ?? null) === null && callsOf(message).length === 0)
          yield { message: 'invalid message content type: <nil>' }
    },
  },
  {
    what: 'a part of a message that is neither text nor picture',
    source: SOURCE,
    *find({ messages }) {
      for (const { type } of messages.flatMap(partsOf))
        if (type !== 'text' && type !== 'image_url') yield { message: 'invalid message format' }
    },
  },
  brokenArguments(SOURCE, () => ({ message: 'invalid tool call arguments' })),
  {
    what: 'a picture, where the model cannot see',
    source: 'https://github.com/ollama/ollama/blob/main/server/routes.go',
    *find({ messages }) {
      if (!vision && messages.some(hasImage))
        yield {
          status: 500,
          type: 'api_error',
          message:
            'Failed to create new sequence: failed to process inputs: this model is missing data required for image input',
        }
    },
  },
]

const toShow = ({ context = 40_960, tools = true, vision = false }: OllamaOptions) => ({
  modelfile: '',
  parameters: '',
  template: '',
  details: { family: 'qwen3', parameter_size: '8.2B', quantization_level: 'Q4_K_M' },
  model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': context },
  capabilities: ['completion', ...(tools ? ['tools'] : []), ...(vision ? ['vision'] : [])],
})

/** Creates Ollama's OpenAI-compatible endpoint. */
const createOllama = (options: OllamaOptions = {}): Provider<ChatRequest> => {
  const { numCtx = 4096, keeps = 'half' } = options
  const kept = keeps === 'half' ? Math.floor(numCtx / 2) + 2 : numCtx
  return {
    name: 'ollama',
    base: '/v1',
    path: /^\/chat\/completions$/,
    rules: createRules(options),
    read: readChat,
    refuse: refuseAsOpenAi,
    // The count is the only sign of the cut, see ollama #17427.
    count: tokens => (tokens > numCtx ? kept : tokens),
    play: (turn, playing) =>
      playChat(turn, playing, {
        reasoning: text => ({ content: '', reasoning: text }),
        callId: ({ issue }) => issue('call_', 8),
        calls: 'whole',
        index: () => 0,
        usage: 'own-chunk',
      }),
    pages: {
      '/api/version': { version: '0.32.9' },
      '/api/tags': { models: [{ name: 'qwen3:8b', model: 'qwen3:8b' }] },
      '/api/ps': { models: [{ name: 'qwen3:8b', model: 'qwen3:8b', context_length: numCtx }] },
      '/api/show': toShow(options),
      '/v1/models': { object: 'list', data: [{ id: 'qwen3:8b', object: 'model', owned_by: 'library' }] },
    },
  }
}

export const ollamaRules = createOllama().rules
export const checkOllama = createCheck(createOllama())
export const createOllamaCheck = (options: OllamaOptions) => createCheck(createOllama(options))
export const startOllamaMimic = (script: Script, options?: OllamaOptions) =>
  startMimic(createOllama(options), script)
