import { calling, IMAGE, result, tool, toSchema, user } from './chat-requests.ts'
import { type Bad, testChecks } from './check-table.ts'
import { checkLlamaCpp, llamaCppRules } from './llama-cpp.ts'
import { checkLmStudio, lmStudioRules } from './lm-studio.ts'
import { checkOllama, createOllamaCheck, ollamaRules } from './ollama.ts'
import { checkVllm, createVllmCheck, vllmRules } from './vllm.ts'

const property = (schema: unknown, more: object = {}) => ({
  tools: [tool({ parameters: toSchema(schema, { ...more }) })],
})
const broken = calling(['a1'])
broken.tool_calls = [{ id: 'a1', type: 'function', function: { name: 'get_time', arguments: '{"at": ' } }]
const BROKEN = {
  what: 'arguments of a call in the history that are no JSON',
  body: { messages: [user(), broken, result('a1')] },
}
const GRAMMAR = 'Failed to initialize samplers: failed to parse grammar'
const FORMAT = '`format` and `propertyNames`'
const LONG = '`maxLength`, `maxItems` and their opposites of 2,000 and more'
const REF = 'a `$ref` that leads nowhere, or out of the schema'
const ESCAPE = 'a `pattern` with `\\d`, `\\w`, `\\s`, `\\b`, their opposites or `\\/`'
const BLIND = 'a picture, where the model cannot see'

const good = {
  'a minimal request': { model: 'qwen3', messages: [user()], stream: true, max_tokens: 100 },
  'a turn with a call, and a schema that a grammar can express': {
    model: 'qwen3',
    messages: [user(), calling(['a1']), result('a1')],
    ...property(
      { type: ['string', 'null'], pattern: '^[a-z]{1,3}(-[0-9]+)?$', maxLength: 200 },
      { additionalProperties: false, $defs: { name: { type: 'string' } } },
    ),
  },
}

const grammar: Bad[] = [
  {
    what: 'a `pattern` that does not begin with `^` and end with `$`',
    body: property({ type: 'string', pattern: '[a-z]+' }),
    says: "Pattern must start with '^' and end with '$'",
  },
  {
    what: 'a schema that is `true` or `false`',
    body: property({ type: 'array', items: true }),
    says: 'Unrecognized schema: true',
  },
  { what: 'a type that JSON does not have', body: property({ type: 'date' }), says: 'Unrecognized schema: ' },
  { what: REF, body: property({ $ref: '#/$defs/none' }), says: 'Error resolving ref #/$defs/none' },
  { what: REF, body: property({ $ref: 'other.json' }), says: 'Unsupported ref: other.json' },
  { what: ESCAPE, body: property({ type: 'string', pattern: '^\\d+$' }), says: GRAMMAR },
  { what: ESCAPE, body: property({ type: 'string', pattern: '^a\\/b$' }), says: GRAMMAR },
  {
    what: 'a `pattern` that looks ahead or behind',
    body: property({ type: 'string', pattern: '^(?!a)b$' }),
    says: GRAMMAR,
  },
  {
    what: 'a `pattern` with a group that does not capture, as before March 2026',
    body: property({ type: 'string', pattern: '^(?:a|b)$' }),
    says: GRAMMAR,
  },
  { what: FORMAT, body: property({ type: 'string', format: 'uri' }), says: GRAMMAR },
  { what: FORMAT, body: property({ type: 'object', propertyNames: { type: 'string' } }), says: GRAMMAR },
  { what: LONG, body: property({ type: 'string', maxLength: 2000 }), says: GRAMMAR },
  { what: LONG, body: property({ type: 'array', items: { type: 'string' }, maxItems: 5000 }), says: GRAMMAR },
  {
    what: 'schemas of all tools over 100,000 characters',
    body: property({ type: 'string', description: 'x'.repeat(100_000) }),
    says: GRAMMAR,
  },
  { ...BROKEN, says: 'Failed to parse tool call arguments as JSON', status: 500 },
  { what: BLIND, body: { messages: [user([IMAGE])] }, says: 'image input is not supported', status: 500 },
  {
    what: 'a prompt over the context',
    body: { messages: [user('x'.repeat(600_000))] },
    says: 'the request exceeds the available context size',
  },
]

testChecks('llama-cpp', { check: checkLlamaCpp, rules: llamaCppRules, good, bad: grammar })

// LM Studio wraps the message again, as a string in a string.
const wrap = (says: string) => JSON.stringify(says).slice(1, -1)
testChecks('lm-studio', {
  check: checkLmStudio,
  rules: lmStudioRules,
  good,
  bad: grammar.map(each => ({ ...each, says: wrap(each.says) })),
})

testChecks('ollama', {
  check: checkOllama,
  rules: ollamaRules,
  good,
  bad: [
    {
      what: 'tools, where the model takes none',
      check: createOllamaCheck({ tools: false }),
      body: { tools: [tool()] },
      says: 'registry.ollama.ai/library/qwen3 does not support tools',
    },
    {
      what: 'content that is missing, except beside calls',
      body: { messages: [user(null)] },
      says: 'invalid message content type: <nil>',
    },
    {
      what: 'a part of a message that is neither text nor picture',
      body: { messages: [user([{ type: 'thinking' }])] },
      says: 'invalid message format',
    },
    { ...BROKEN, says: 'invalid tool call arguments' },
    {
      what: BLIND,
      body: { messages: [user([IMAGE])] },
      says: 'missing data required for image input',
      status: 500,
    },
  ],
})

testChecks('vllm', {
  check: checkVllm,
  rules: vllmRules,
  good,
  bad: [
    { what: 'an empty list of tools', body: { tools: [] }, says: 'must not be an empty array' },
    {
      what: 'tools, where it was started without a parser for calls',
      check: createVllmCheck({ callsTools: false }),
      body: { tools: [tool()] },
      says: '"auto" tool choice requires --enable-auto-tool-choice',
    },
    { ...BROKEN, says: 'SyntaxError' },
    {
      what: 'users and assistants that do not take turns, where the template insists on it',
      check: createVllmCheck({ alternates: true }),
      body: { messages: [user(), user()] },
      says: 'conversation roles must alternate user/assistant',
    },
    {
      what: 'a prompt and a reply over the context',
      check: createVllmCheck({ context: 1024 }),
      body: { max_tokens: 1024 },
      says: "This model's maximum context length is 1024 tokens.",
    },
  ],
})
