import { type ChatRequest, callsOf, findUnpaired, partsOf, playChat, readChat } from './chat.ts'
import { toObject, toText } from './json.ts'
import { createCheck, type Fault, type Provider, type Rule, type Script, startMimic } from './mimic.ts'
import { emptyTools, NO_KEY, refuseAsOpenAi, toolNames } from './openai-rules.ts'

const ROLES = ['system', 'user', 'assistant', 'tool', 'latest_reminder']

const refused = (message: string): Fault => ({ message, code: 'invalid_request_error' })

const unreadable = (what: string) =>
  refused(`Failed to deserialize the JSON body into the target type: ${what} at line 1 column 1`)

/** Rules of DeepSeek V4, which thinks by default. */
export const deepSeekRules: Rule<ChatRequest>[] = [
  {
    what: 'a role that it does not know (`developer`)',
    source: 'https://github.com/decolua/9router/issues/773',
    *find({ messages }) {
      for (const [at, { role }] of messages.entries())
        if (!ROLES.includes(toText(role)))
          yield unreadable(
            `messages[${at}].role: unknown variant \`${role}\`, expected one of ${ROLES.map(name => `\`${name}\``).join(', ')}`,
          )
    },
  },
  {
    what: 'a picture, where the model is not one of the `flash` models',
    source: 'https://github.com/nextcloud/integration_openai/issues/284',
    *find({ body, messages }) {
      if (toText(body['model']).includes('flash')) return
      for (const [at, message] of messages.entries())
        for (const { type } of partsOf(message))
          if (type !== 'text')
            yield unreadable(`messages[${at}]: unknown variant \`${type}\`, expected \`text\``)
    },
  },
  {
    what: 'an assistant message with neither text nor calls',
    source: 'https://github.com/carlrobertoh/ProxyAI/issues/834',
    *find({ messages }) {
      for (const message of messages)
        if (message['role'] === 'assistant' && !message['content'] && callsOf(message).length === 0)
          yield refused('Invalid assistant message: content or tool_calls must be set')
    },
  },
  {
    what: 'a call without its result after it',
    source: 'https://github.com/langgenius/dify/issues/32222',
    *find({ messages }) {
      for (const { kind } of findUnpaired(messages))
        if (kind === 'unanswered')
          yield refused(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
          )
    },
  },
  {
    what: 'a result without its call before it',
    source: 'https://github.com/FoundationAgents/OpenManus/issues/744',
    *find({ messages }) {
      for (const { kind } of findUnpaired(messages))
        if (kind !== 'unanswered')
          yield refused(
            "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
          )
    },
  },
  {
    what: 'an assistant message without `reasoning_content` from the first call on, unless `thinking` is `disabled`',
    source: 'https://github.com/openclaw/openclaw/issues/73417',
    *find({ body, messages }) {
      if (toObject(body['thinking'])['type'] === 'disabled') return
      const first = messages.findIndex(message => callsOf(message).length > 0)
      for (const { role, reasoning_content } of first < 0 ? [] : messages.slice(first))
        if (role === 'assistant' && typeof reasoning_content !== 'string')
          yield refused('The `reasoning_content` in the thinking mode must be passed back to the API.')
    },
  },
  { ...emptyTools, source: 'https://github.com/runebookai/tome/pull/87' },
  {
    ...toolNames({ place: '.function' }),
    source: 'https://api-docs.deepseek.com/api/create-chat-completion',
  },
]

const deepSeek: Provider<ChatRequest> = {
  name: 'deepseek',
  base: '',
  path: /^(\/v1)?\/chat\/completions$/,
  key: NO_KEY,
  rules: deepSeekRules,
  read: readChat,
  refuse: refuseAsOpenAi,
  play: (turn, playing) =>
    playChat(turn, playing, {
      reasoning: text => ({ content: null, reasoning_content: text }),
      callId: ({ issue }) => issue('call_00_', 24),
      calls: 'streamed',
      usage: 'with-finish',
      moreUsage: ({ usage: { input, cached } }) => ({
        prompt_cache_hit_tokens: cached,
        prompt_cache_miss_tokens: input - cached,
      }),
    }),
}

export const checkDeepSeek = createCheck(deepSeek)
export const startDeepSeekMimic = (script: Script) => startMimic(deepSeek, script)
