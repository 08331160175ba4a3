import { type ChatRequest, callsOf, playChat, readChat } from './chat.ts'
import { brokenArguments } from './grammar.ts'
import { createCheck, type Provider, type Rule, type Script, startMimic, tokensOfBody } from './mimic.ts'

export interface VllmOptions {
  /** The value of `--max-model-len`. */
  context?: number
  /** True if it was started with `--enable-auto-tool-choice` and a parser. */
  callsTools?: boolean
  /** True if the chat template requires users and assistants to alternate, as Mistral's do. */
  alternates?: boolean
  /** True if calls have no ids, as with some of its parsers. */
  omitsIds?: boolean
}

const createRules = (options: VllmOptions): Rule<ChatRequest>[] => {
  const { context = 131_072, callsTools = true, alternates = false } = options
  return [
    {
      what: 'an empty list of tools',
      source: 'https://github.com/vllm-project/vllm/pull/39780',
      *find({ body }) {
        if (Array.isArray(body['tools']) && body['tools'].length === 0)
          yield { message: '`tools` must not be an empty array. Either omit it or pass at least one tool.' }
      },
    },
    {
      what: 'tools, where it was started without a parser for calls',
      source: 'https://github.com/agentscope-ai/QwenPaw/issues/1449',
      *find({ tools }) {
        if (!callsTools && tools.length > 0)
          yield {
            message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
          }
      },
    },
    brokenArguments('https://github.com/vllm-project/vllm/issues/43995', error => ({ message: error })),
    {
      what: 'users and assistants that do not take turns, where the template insists on it',
      source: 'https://github.com/vllm-project/vllm/issues/6862',
      *find({ messages }) {
        const told = messages.filter(message => {
          const { role } = message
          return role !== 'system' && role !== 'tool' && callsOf(message).length === 0
        })
        if (alternates && told.some(({ role }, at) => (role === 'user') !== (at % 2 === 0)))
          yield {
            message:
              'After the optional system message, conversation roles must alternate user/assistant/user/assistant/...',
          }
      },
    },
    {
      what: 'a prompt and a reply over the context',
      source: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server/',
      *find({ body }) {
        const input = tokensOfBody(body)
        const output = Number(body['max_completion_tokens'] ?? body['max_tokens'] ?? 0)
        if (input + output > context)
          yield {
            message: `This model's maximum context length is ${context} tokens. However, you requested ${input + output} tokens (${input} in the messages, ${output} in the completion). Please reduce the length of the messages or completion.`,
          }
      },
    },
  ]
}

const createVllm = (options: VllmOptions = {}): Provider<ChatRequest> => ({
  name: 'vllm',
  base: '/v1',
  path: /^\/chat\/completions$/,
  rules: createRules(options),
  read: readChat,
  refuse: ({ status: code = 400, message, type = 'BadRequestError' }) => ({
    status: code,
    body: { error: { message, type, param: null, code } },
  }),
  play: (turn, playing) =>
    playChat(turn, playing, {
      reasoning: text => ({ reasoning: text, reasoning_content: text }),
      callId: ({ issue }) => (options.omitsIds ? undefined : issue('chatcmpl-tool-', 32)),
      calls: 'streamed',
      usage: 'own-chunk',
    }),
  pages: {
    '/v1/models': {
      object: 'list',
      data: [{ id: 'Qwen/Qwen3-8B', object: 'model', max_model_len: options.context ?? 131_072 }],
    },
  },
})

export const vllmRules = createVllm().rules
export const checkVllm = createCheck(createVllm())
export const createVllmCheck = (options: VllmOptions) => createCheck(createVllm(options))
export const startVllmMimic = (script: Script, options?: VllmOptions) =>
  startMimic(createVllm(options), script)
