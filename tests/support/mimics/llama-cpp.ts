import { type ChatRequest, hasImage, playChat, readChat } from './chat.ts'
import { brokenArguments, grammarRules } from './grammar.ts'
import {
  createCheck,
  type Fault,
  type Provider,
  type Rule,
  type Script,
  startMimic,
  tokensOfBody,
} from './mimic.ts'

export interface LlamaCppOptions {
  /** Tokens of the context. */
  context?: number
  vision?: boolean
}

const promptTokens = ({ body }: ChatRequest) => tokensOfBody(body)

const createRules = ({ context = 131_072, vision = false }: LlamaCppOptions): Rule<ChatRequest>[] => [
  ...grammarRules,
  brokenArguments('https://github.com/OpenHands/software-agent-sdk/issues/2887', error => ({
    status: 500,
    type: 'server_error',
    message: `Failed to parse tool call arguments as JSON: ${error}`,
  })),
  {
    what: 'a picture, where the model cannot see',
    source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
    *find({ messages }) {
      if (!vision && messages.some(hasImage))
        yield {
          status: 500,
          type: 'server_error',
          message:
            'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
        }
    },
  },
  {
    what: 'a prompt over the context',
    source: 'https://github.com/ggml-org/llama.cpp/pull/15780',
    *find(request) {
      if (promptTokens(request) > context)
        yield {
          type: 'exceed_context_size_error',
          message:
            'the request exceeds the available context size. try increasing the context size or enable context shift',
          param: JSON.stringify({ n_prompt_tokens: promptTokens(request), n_ctx: context }),
        }
    },
  },
]

/** Returns llama.cpp's form of an error: it repeats the status, and an overflow has the counts. */
export const refuseAsLlamaCpp = ({
  status = 400,
  message,
  type = 'invalid_request_error',
  param,
}: Fault) => ({
  status,
  body: { error: { code: status, message, type, ...(param ? JSON.parse(param) : {}) } },
})

export const createLlamaCpp = (options: LlamaCppOptions = {}): Provider<ChatRequest> => ({
  name: 'llama-cpp',
  base: '/v1',
  path: /^\/chat\/completions$/,
  rules: createRules(options),
  read: readChat,
  refuse: refuseAsLlamaCpp,
  play: (turn, playing) =>
    playChat(turn, playing, {
      reasoning: text => ({ reasoning_content: text }),
      callId: ({ issue }) => issue('', 32),
      calls: 'streamed',
      usage: 'own-chunk',
    }),
  pages: {
    '/v1/models': { object: 'list', data: [{ id: 'qwen3.gguf', object: 'model', owned_by: 'llamacpp' }] },
    '/props': {
      default_generation_settings: { n_ctx: options.context ?? 131_072 },
      modalities: { vision: options.vision ?? false, audio: false },
    },
  },
})

export const llamaCppRules = createLlamaCpp().rules
export const checkLlamaCpp = createCheck(createLlamaCpp())
export const startLlamaCppMimic = (script: Script, options?: LlamaCppOptions) =>
  startMimic(createLlamaCpp(options), script)
