import { assistant, calling, IMAGE, result, tool, toSchema, user } from './chat-requests.ts'
import { testChecks } from './check-table.ts'
import { checkOpenAiChat, openAiChatRules } from './openai-chat.ts'

const many = Array.from({ length: 129 }, (_, at) => tool({ name: `tool_${at}` }))
const NAME = 'a name of a tool with other characters than letters, digits, `_` and `-`, or over 64'
const TOP = "a tool's schema that is no object, or a union at its top"
const UNKNOWN = 'a parameter that it does not know, in the request or in a message'
const withTool = (more: object) => ({ tools: [tool({ ...more })], reasoning_effort: 'none' })

testChecks('openai-chat', {
  check: checkOpenAiChat,
  rules: openAiChatRules,
  good: {
    'a minimal request': { model: 'gpt-5.6', messages: [user()], stream: true },
    'a turn with parallel calls': {
      model: 'gpt-5.6',
      reasoning_effort: 'none',
      tools: [tool()],
      max_completion_tokens: 100,
      messages: [
        { role: 'developer', content: 'Help.' },
        user([{ type: 'text', text: 'What is this?' }, IMAGE]),
        calling(['call_1', 'call_2']),
        result('call_2'),
        result('call_1'),
        user('And now?'),
        assistant(),
        user(),
      ],
    },
  },
  bad: [
    { what: UNKNOWN, body: { thinking: {} }, says: "Unknown parameter: 'thinking'." },
    {
      what: UNKNOWN,
      body: { messages: [user(), assistant({ reasoning_content: '' }), user()] },
      says: "Unknown parameter: 'messages[1].reasoning_content'.",
    },
    { what: '`max_tokens`', body: { max_tokens: 1 }, says: "Use 'max_completion_tokens' instead." },
    { what: 'a `temperature` other than 1', body: { temperature: 0.2 }, says: 'does not support 0.2' },
    {
      what: 'tools, unless `reasoning_effort` is `none`',
      body: { tools: [tool()] },
      says: 'Function tools with reasoning_effort are not supported for gpt-5.6',
    },
    {
      what: 'a `reasoning_effort` that it does not have',
      body: { reasoning_effort: 'minimal' },
      says: "does not support 'minimal' with this model",
    },
    { what: 'an empty list of tools', body: { tools: [] }, says: "Invalid 'tools': empty array" },
    {
      what: 'more than 128 tools',
      body: { tools: many, reasoning_effort: 'none' },
      says: 'got an array with length 129',
    },
    {
      what: NAME,
      body: withTool({ name: 'a.b' }),
      says: "Invalid 'tools[0].function.name': string does not",
    },
    { what: NAME, body: withTool({ name: 'a'.repeat(65) }), says: 'maximum length 64' },
    { what: TOP, body: withTool({ parameters: { anyOf: [] } }), says: 'at the top level' },
    {
      what: TOP,
      body: withTool({ parameters: { type: 'object', anyOf: [] } }),
      says: "Invalid schema for function 'get_time'",
    },
    {
      what: "a tool's schema without `properties`",
      body: withTool({ parameters: { type: 'object' } }),
      says: 'In context=(), object schema missing properties.',
    },
    {
      what: 'a description of a tool over 1,024 characters',
      body: withTool({ description: 'x'.repeat(1025) }),
      says: "Invalid 'tools[0].function.description': string too long",
    },
    {
      what: 'a call without its type',
      body: { messages: [user(), calling([], { tool_calls: [{ id: 'call_1' }] }), result('call_1')] },
      says: "Missing required parameter: 'messages[1].tool_calls[0].type'.",
    },
    {
      what: 'an array in a schema without `items`',
      body: withTool({ parameters: toSchema({ type: 'array' }) }),
      says: "In context=('properties', 'at'), array schema missing items.",
    },
    {
      what: 'a role that it does not know',
      body: { messages: [{ role: 'model', content: '' }] },
      says: "'model'",
    },
    {
      what: 'content that is missing, except beside calls',
      body: { messages: [user(null)] },
      says: 'expected a string, got null',
    },
    {
      what: 'an empty list of calls',
      body: { messages: [user(), assistant({ tool_calls: [] })] },
      says: "Invalid 'messages[1].tool_calls': empty array",
    },
    {
      what: 'an id of a call over 40 characters',
      body: { messages: [user(), calling(['c'.repeat(41)])] },
      says: 'Expected a string with maximum length 40, but got a string with length 41',
    },
    {
      what: 'a result without its call before it',
      body: { messages: [user(), result('call_1')] },
      says: 'must be a response to a preceeding message',
    },
    {
      what: 'a result without its call before it',
      body: { messages: [user(), calling(['call_1']), result('call_1'), result('call_1')] },
      says: 'must be a response to a preceeding message',
    },
    {
      what: 'a call without its result after it',
      body: { messages: [user(), calling(['call_1', 'call_2']), result('call_1'), user()] },
      says: 'did not have response messages: call_2',
    },
    {
      what: 'a picture outside of a message of the user',
      body: { messages: [user(), calling(['call_1']), result('call_1', [IMAGE])] },
      says: "this message with role 'tool' contains an image URL",
    },
  ],
})
