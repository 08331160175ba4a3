import { type ChatRequest, playChat, readChat } from './chat.ts'
import { toText, unknownKeys } from './json.ts'
import { type Answer, createCheck, type Provider, type Rule, type Script, startMimic } from './mimic.ts'
import { NO_KEY } from './openai-rules.ts'

const KNOWN =
  'model messages stream stream_options tools tool_choice parallel_tool_calls max_tokens max_completion_tokens temperature top_p stop seed user metadata store n response_format reasoning_effort reasoning_format include_reasoning service_tier frequency_penalty presence_penalty logit_bias logprobs top_logprobs documents search_settings citation_options disable_tool_validation'.split(
    ' ',
  )

/** Returns Groq's message about a violated requirement of a role. */
const unsatisfied = (at: number, role: unknown, why: string) => ({
  message: `'messages.${at}' : for 'role:${role}' the following must be satisfied[('messages.${at}' : ${why})]`,
})

export const groqRules: Rule<ChatRequest>[] = [
  {
    what: 'a parameter that it does not know',
    source: 'https://github.com/fanenr/chatbot/issues/21',
    *find({ body }) {
      for (const key of unknownKeys(body, KNOWN)) yield { message: `property '${key}' is unsupported` }
    },
  },
  {
    what: 'a field of a message that it does not know (`reasoning_content`, `reasoning`, …)',
    source: 'https://github.com/janhq/jan/issues/8136',
    *find({ messages }) {
      for (const [at, message] of messages.entries())
        for (const key of unknownKeys(message, ['role', 'content', 'name', 'tool_calls', 'tool_call_id']))
          yield unsatisfied(at, message['role'], `property '${key}' is unsupported`)
    },
  },
  {
    what: 'more than 128 tools',
    source: 'https://github.com/HunorLaczko/ha-groq-cloud-api/issues/25',
    *find({ tools }) {
      if (tools.length > 128) yield { message: "'tools' : maximum number of items is 128" }
    },
  },
  {
    what: 'a result that names no call',
    source: 'https://console.groq.com/docs/api-reference#chat-create',
    *find({ messages }) {
      for (const [at, { role, tool_call_id }] of messages.entries())
        if (role === 'tool' && !toText(tool_call_id))
          yield unsatisfied(at, role, "property 'tool_call_id' is missing")
    },
  },
]

/**
 * Creates an occasional failure that teaches nothing about the request: groq/groq-typescript #28, opencode
 * #1018.
 */
export const toolUseFailed = (inStream = false): Answer => ({
  status: 400,
  inStream,
  body: {
    error: {
      message:
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      type: 'invalid_request_error',
      code: 'tool_use_failed',
      failed_generation: 'Tool use failed: JSON does not match the expected schema for tool calls',
      ...(inStream ? { status_code: 400 } : {}),
    },
  },
})

const groq: Provider<ChatRequest> = {
  name: 'groq',
  base: '/openai/v1',
  path: /^\/chat\/completions$/,
  key: NO_KEY,
  rules: groqRules,
  read: readChat,
  refuse: ({ status = 400, message, type = 'invalid_request_error' }) => ({
    status,
    body: { error: { message, type } },
  }),
  play: (turn, playing) =>
    playChat(turn, playing, {
      reasoning: text => ({ reasoning: text, channel: 'analysis' }),
      callId: ({ issue }) => issue('', 9),
      calls: 'whole',
      usage: 'with-finish',
    }),
}

export const checkGroq = createCheck(groq)
export const startGroqMimic = (script: Script) => startMimic(groq, script)
