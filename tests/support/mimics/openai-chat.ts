import { type ChatRequest, callsOf, findUnpaired, hasImage, playChat, readChat } from './chat.ts'
import { toText, unknownKeys } from './json.ts'
import { createCheck, type Provider, type Rule, type Script, startMimic } from './mimic.ts'
import { NO_KEY, openAiToolRules, refuseAsOpenAi, tooLong } from './openai-rules.ts'

const KNOWN =
  'model messages stream stream_options tools tool_choice parallel_tool_calls reasoning_effort verbosity max_completion_tokens max_tokens temperature top_p n stop seed user metadata store response_format prompt_cache_key prompt_cache_retention safety_identifier service_tier frequency_penalty presence_penalty logit_bias logprobs top_logprobs modalities prediction audio web_search_options'.split(
    ' ',
  )

const IN_MESSAGES = 'role content name tool_calls tool_call_id refusal audio'.split(' ')
const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer']

const unknownParameter = (param: string) => ({
  message: `Unknown parameter: '${param}'.`,
  param,
  code: 'unknown_parameter',
})

/** Rules of chat completions with a model of 2026 that always thinks (gpt-5.6). */
export const openAiChatRules: Rule<ChatRequest>[] = [
  {
    what: 'a parameter that it does not know, in the request or in a message',
    source: 'https://github.com/teabranch/open-responses-server/issues/41',
    *find({ body, messages }) {
      for (const key of unknownKeys(body, KNOWN)) yield unknownParameter(key)
      for (const [at, message] of messages.entries())
        for (const key of unknownKeys(message, IN_MESSAGES)) yield unknownParameter(`messages[${at}].${key}`)
    },
  },
  {
    what: '`max_tokens`',
    source: 'https://github.com/vercel/ai/tree/main/packages/openai/src',
    *find({ body }) {
      if ('max_tokens' in body)
        yield {
          message:
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
          param: 'max_tokens',
          code: 'unsupported_parameter',
        }
    },
  },
  {
    what: 'a `temperature` other than 1',
    source: 'https://github.com/vercel/ai/tree/main/packages/openai/src',
    *find({ body }) {
      if ('temperature' in body && body['temperature'] !== 1)
        yield {
          message: `Unsupported value: 'temperature' does not support ${body['temperature']} with this model. Only the default (1) value is supported.`,
          param: 'temperature',
          code: 'unsupported_value',
        }
    },
  },
  {
    what: 'tools, unless `reasoning_effort` is `none`',
    source: 'https://github.com/BerriAI/litellm/pull/34569',
    *find({ body, tools }) {
      if (tools.length > 0 && body['reasoning_effort'] !== 'none')
        yield {
          message: `Function tools with reasoning_effort are not supported for ${body['model']} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
          param: 'reasoning_effort',
        }
    },
  },
  {
    what: 'a `reasoning_effort` that it does not have',
    source: 'https://github.com/livekit/agents/pull/7169',
    *find({ body }) {
      const effort = body['reasoning_effort']
      if (effort !== undefined && !['none', 'low', 'medium', 'high', 'xhigh'].includes(toText(effort)))
        yield {
          message: `Unsupported value: 'reasoning_effort' does not support '${effort}' with this model. Supported values are: 'none', 'low', 'medium', 'high', 'xhigh'.`,
          param: 'reasoning_effort',
          code: 'unsupported_value',
        }
    },
  },
  ...openAiToolRules({ place: '.function' }),
  {
    what: 'a description of a tool over 1,024 characters',
    source: 'https://github.com/getsentry/sentry-mcp/issues/106',
    *find({ tools }) {
      for (const [at, { description }] of tools.entries())
        if (description.length > 1024) yield tooLong(`tools[${at}].function.description`, description, 1024)
    },
  },
  {
    what: 'a role that it does not know',
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
    *find({ messages }) {
      for (const [at, { role }] of messages.entries())
        if (!ROLES.includes(toText(role)))
          yield {
            message: `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
            param: `messages[${at}].role`,
            code: 'invalid_value',
          }
    },
  },
  {
    what: 'content that is missing, except beside calls',
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
    *find({ messages }) {
      for (const [at, message] of messages.entries())
        if ((message['content'] ?? null) === null && callsOf(message).length === 0)
          yield {
            message: "Invalid value for 'content': expected a string, got null.",
            param: `messages.[${at}].content`,
          }
    },
  },
  {
    what: 'an empty list of calls',
    source: 'https://github.com/home-assistant/core/pull/118577',
    *find({ messages }) {
      for (const [at, { tool_calls }] of messages.entries())
        if (Array.isArray(tool_calls) && tool_calls.length === 0)
          yield {
            message: `Invalid 'messages[${at}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
            param: `messages[${at}].tool_calls`,
            code: 'empty_array',
          }
    },
  },
  {
    what: 'a call without its type',
    source: 'https://github.com/langchain-ai/langchain-azure/issues/35',
    *find({ messages }) {
      for (const [at, message] of messages.entries())
        for (const [position, { type }] of callsOf(message).entries()) {
          const param = `messages[${at}].tool_calls[${position}].type`
          if (type !== 'function')
            yield {
              message: `Missing required parameter: '${param}'.`,
              param,
              code: 'missing_required_parameter',
            }
        }
    },
  },
  {
    what: 'an id of a call over 40 characters',
    source: 'https://github.com/vercel/ai/issues/5171',
    *find({ messages }) {
      for (const [at, message] of messages.entries())
        for (const [position, { id }] of callsOf(message).entries())
          if (toText(id).length > 40)
            yield tooLong(`messages[${at}].tool_calls[${position}].id`, toText(id), 40)
    },
  },
  {
    what: 'a result without its call before it',
    source: 'https://github.com/Haervwe/open-webui-tools/issues/12',
    *find({ messages }) {
      for (const { kind, at } of findUnpaired(messages))
        if (kind !== 'unanswered')
          yield {
            message:
              "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
            param: `messages.[${at}].role`,
          }
    },
  },
  {
    what: 'a call without its result after it',
    source: 'https://github.com/aliasrobotics/cai/issues/111',
    *find({ messages }) {
      for (const pair of findUnpaired(messages))
        if (pair.kind === 'unanswered')
          yield {
            message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${pair.ids.join(', ')}`,
            param: `messages.[${pair.at + 1}].role`,
          }
    },
  },
  {
    what: 'a picture outside of a message of the user',
    source: 'https://github.com/OpenHands/OpenHands/issues/7700',
    *find({ messages }) {
      for (const [at, message] of messages.entries())
        if (message['role'] !== 'user' && hasImage(message))
          yield {
            message: `Invalid 'messages[${at}]'. Image URLs are only allowed for messages with role 'user', but this message with role '${message['role']}' contains an image URL.`,
            param: `messages[${at}]`,
            code: 'invalid_value',
          }
    },
  },
]

export const openAiChat: Provider<ChatRequest> = {
  name: 'openai-chat',
  base: '/v1',
  path: /^\/chat\/completions$/,
  key: NO_KEY,
  rules: openAiChatRules,
  read: readChat,
  refuse: refuseAsOpenAi,
  // Chat completions of OpenAI never contain the model's reasoning.
  play: (turn, playing) =>
    playChat({ ...turn, reasoning: '' }, playing, {
      reasoning: () => ({}),
      callId: ({ issue }) => issue('call_', 24),
      calls: 'streamed',
      usage: 'own-chunk',
      moreUsage: () => ({ completion_tokens_details: { reasoning_tokens: 0 } }),
    }),
}

export const checkOpenAiChat = createCheck(openAiChat)
export const startOpenAiChatMimic = (script: Script) => startMimic(openAiChat, script)
