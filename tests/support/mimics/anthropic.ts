import { Ajv2020 } from 'ajv/dist/2020.js'
import { anthropicMessageRules, type MessagesRequest, readMessages } from './anthropic-messages.ts'
import { type Json, repeated, toObject, toObjects, toText, unknownKeys } from './json.ts'
import {
  createCheck,
  type Playing,
  type Provider,
  type Rule,
  type Script,
  startMimic,
  type Turn,
  toEvent,
  toPieces,
} from './mimic.ts'

const KNOWN =
  'model max_tokens messages system stream tools tool_choice temperature top_p top_k stop_sequences thinking metadata service_tier cache_control output_config context_management container inference_geo'.split(
    ' ',
  )

const schemas = new Ajv2020({ strict: false, validateFormats: false })

/** Returns every block with a cache mark. */
const marked = ({ body, messages, tools }: MessagesRequest): Json[] =>
  [...tools, ...toObjects(body['system']), ...messages.flatMap(({ blocks }) => blocks)].filter(
    block => block['cache_control'] !== undefined,
  )

const requestRules: Rule<MessagesRequest>[] = [
  {
    what: 'a parameter that it does not know',
    source: 'https://github.com/langchain-ai/langchain/issues/31208',
    *find({ body }) {
      for (const key of unknownKeys(body, KNOWN)) yield { message: `${key}: Extra inputs are not permitted` }
    },
  },
  {
    what: 'no `max_tokens`',
    source: 'https://platform.claude.com/docs/en/api/messages',
    *find({ body }) {
      if (typeof body['max_tokens'] !== 'number') yield { message: 'max_tokens: Field required' }
    },
  },
  {
    what: '`max_tokens` that its thinking would use up',
    source: 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking',
    *find({ body }) {
      if (Number(toObject(body['thinking'])['budget_tokens'] ?? 0) >= Number(body['max_tokens']))
        yield {
          message:
            '`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size',
        }
    },
  },
  {
    what: 'a `temperature` other than 1 beside thinking',
    source: 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking',
    *find({ body }) {
      const thinks = ['enabled', 'adaptive'].includes(toText(toObject(body['thinking'])['type']))
      if (thinks && (body['temperature'] ?? 1) !== 1)
        yield {
          message:
            '`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking',
        }
    },
  },
  {
    what: 'more than four marks of the cache',
    source: 'https://github.com/tghamm/Anthropic.SDK/issues/50',
    *find(request) {
      const { length } = marked(request)
      if (length > 4)
        yield { message: `A maximum of 4 blocks with cache_control may be provided. Found ${length}.` }
    },
  },
  {
    what: 'a mark of the cache on thinking',
    source: 'https://github.com/vercel/ai/pull/9330',
    *find(request) {
      for (const { type } of marked(request))
        if (type === 'thinking')
          yield { message: 'messages.content.thinking.cache_control: Extra inputs are not permitted' }
    },
  },
]

const toolRules: Rule<MessagesRequest>[] = [
  {
    what: 'a name of a tool with other characters than letters, digits, `_` and `-`, or over 128',
    source: 'https://github.com/home-assistant/core/issues/147760',
    *find({ tools }) {
      for (const [at, { name }] of tools.entries())
        if (!/^[a-zA-Z0-9_-]{1,128}$/.test(toText(name)))
          yield {
            message: `tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
          }
    },
  },
  {
    what: 'two tools of one name',
    source: 'https://github.com/danny-avila/LibreChat/issues/13162',
    *find({ tools }) {
      if (repeated(tools.map(({ name }) => name)).length > 0)
        yield { message: 'tools: Tool names must be unique.' }
    },
  },
  {
    what: "a union at the top of a tool's schema",
    source: 'https://github.com/anthropics/claude-code/issues/44788',
    *find({ tools }) {
      for (const [at, { input_schema }] of tools.entries())
        if (['oneOf', 'allOf', 'anyOf'].some(key => key in toObject(input_schema)))
          yield {
            message: `tools.${at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
          }
    },
  },
  {
    what: "a tool's schema that is no object",
    source: 'https://platform.claude.com/docs/en/api/messages',
    *find({ tools }) {
      for (const [at, { input_schema }] of tools.entries()) {
        const { type } = toObject(input_schema)
        if (type !== 'object')
          yield {
            message: `tools.${at}.custom.input_schema.type: ${type === undefined ? 'Field required' : "Input should be 'object'"}`,
          }
      }
    },
  },
  {
    what: "an argument's name with other characters than letters, digits, `_`, `.` and `-`, or over 64",
    source: 'https://github.com/n8n-io/n8n/issues/30590',
    *find({ tools }) {
      for (const [at, { input_schema }] of tools.entries())
        for (const key of Object.keys(toObject(toObject(input_schema)['properties'])))
          if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key))
            yield {
              message: `tools.${at}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`,
            }
    },
  },
  {
    what: 'a schema that JSON Schema 2020-12 does not allow',
    source: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview',
    *find({ tools }) {
      for (const [at, { input_schema }] of tools.entries()) {
        const { $schema, ...schema } = toObject(input_schema)
        if (schemas.validateSchema(schema) !== true)
          yield {
            message: `tools.${at}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use.`,
          }
      }
    },
  },
]

export const anthropicRules = [...requestRules, ...toolRules, ...anthropicMessageRules]

/** Yields a reply's events, in the order of the recorded streams. */
function* play({ reasoning, text, calls = [] }: Turn, playing: Playing): Iterable<string> {
  const event = (type: string, fields: Json = {}) => toEvent({ type, ...fields }, type)
  const { input, cached, output } = playing.usage
  const counted = {
    input_tokens: input - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
  }
  const message = {
    id: playing.issue('msg_01', 22),
    type: 'message',
    role: 'assistant',
    model: playing.body['model'],
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...counted, output_tokens: 1 },
  }
  yield event('message_start', { message })
  let index = 0
  const blocks = [
    ...(reasoning === undefined ? [] : [toThinking(reasoning, playing)]),
    ...(text === undefined ? [] : [toTextBlock(text)]),
    ...calls.map(call => toToolUse(call, playing)),
  ]
  for (const { block, deltas } of blocks) {
    yield event('content_block_start', { index, content_block: block })
    if (index === 0) yield event('ping')
    for (const delta of deltas) yield event('content_block_delta', { index, delta })
    yield event('content_block_stop', { index: index++ })
  }
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn'
  yield event('message_delta', {
    delta: { stop_reason, stop_sequence: null },
    usage: { ...counted, output_tokens: output },
  })
  yield event('message_stop')
}

const toThinking = (text: string, { issue }: Playing) => ({
  block: { type: 'thinking', thinking: '', signature: '' },
  deltas: [
    ...toPieces(text).map(thinking => ({ type: 'thinking_delta', thinking })),
    { type: 'signature_delta', signature: issue('EqQB', 96, text) },
  ],
})

const toTextBlock = (text: string) => ({
  block: { type: 'text', text: '' },
  deltas: toPieces(text).map(piece => ({ type: 'text_delta', text: piece })),
})

const toToolUse = (call: { name: string; arguments: unknown }, { issue }: Playing) => ({
  block: { type: 'tool_use', id: issue('toolu_01', 22), name: call.name, input: {} },
  deltas: ['', ...toPieces(JSON.stringify(call.arguments))].map(partial_json => ({
    type: 'input_json_delta',
    partial_json,
  })),
})

const anthropic: Provider<MessagesRequest> = {
  name: 'anthropic',
  base: '/v1',
  path: /^\/messages$/,
  key: {
    header: 'x-api-key',
    fault: { status: 401, type: 'authentication_error', message: 'x-api-key header is required' },
  },
  rules: anthropicRules,
  read: readMessages,
  refuse: ({ status = 400, type = 'invalid_request_error', message }) => ({
    status,
    body: { type: 'error', error: { type, message }, request_id: 'req_011CWk' },
  }),
  play,
}

export const checkAnthropic = createCheck(anthropic)
export const startAnthropicMimic = (script: Script) => startMimic(anthropic, script)
