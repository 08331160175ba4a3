import { assistant, calling, IMAGE, result, tool, toSchema, user } from './chat-requests.ts'
import { testChecks } from './check-table.ts'
import { checkMistral, mistralRules } from './mistral.ts'

const ORDER = 'a role in the wrong place: a user after a tool, a tool after a user or a system'
const COUNT = 'another number of results than of calls'
const FIELD = 'a field of a message that it does not know (`reasoning_content`, …)'

testChecks('mistral', {
  check: checkMistral,
  rules: mistralRules,
  good: {
    'a minimal request': { model: 'mistral-large-latest', messages: [user()], stream: true, max_tokens: 100 },
    'parallel calls, and a bridge before the next message': {
      model: 'mistral-large-latest',
      tools: [tool()],
      messages: [
        { role: 'system', content: 'Help.' },
        user([{ type: 'text', text: 'What is this?' }, IMAGE]),
        calling(['abcdef123', 'abcdef124'], { content: 'I look.' }),
        result('abcdef123'),
        { ...result('abcdef124'), name: 'get_time' },
        assistant(),
        user(),
        user(),
      ],
    },
  },
  bad: [
    {
      what: 'a parameter that it does not know (`max_completion_tokens`, `stream_options`, …)',
      body: { max_completion_tokens: 1 },
      says: 'extra_forbidden\nbody\nmax_completion_tokens\nExtra inputs are not permitted',
      status: 422,
    },
    {
      what: FIELD,
      body: { messages: [user(), assistant({ reasoning_content: 'Hm.' }), user()] },
      says: 'assistant\nreasoning_content\nExtra inputs are not permitted',
      status: 422,
    },
    {
      what: 'a role that it does not know',
      body: { messages: [{ role: 'developer', content: 'Help.' }, user()] },
      says: 'role',
      status: 422,
    },
    { what: 'no message', body: { messages: [] }, says: 'must have at least one message' },
    {
      what: 'an assistant message at the end',
      body: { messages: [user(), assistant()] },
      says: 'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
    },
    {
      what: ORDER,
      body: { messages: [user(), calling(['abcdef123']), result('abcdef123'), user()] },
      says: "Unexpected role 'user' after role 'tool'",
    },
    {
      what: ORDER,
      body: { messages: [user(), result('abcdef123')] },
      says: "Unexpected role 'tool' after role 'user'",
    },
    {
      what: COUNT,
      body: {
        messages: [user(), calling(['abcdef123', 'abcdef124']), result('abcdef123'), assistant(), user()],
      },
      says: 'Not the same number of function calls and responses',
    },
    {
      what: COUNT,
      body: { messages: [user(), calling(['abcdef123']), user()] },
      says: 'Not the same number',
    },
    {
      what: 'an assistant message with neither text nor calls',
      body: { messages: [user(), assistant({ content: '' }), user()] },
      says: 'must have either content or tool_calls, but not none',
    },
    {
      what: 'an id of a call that is not nine letters and digits',
      body: { messages: [user(), calling(['call_1']), result('call_1')] },
      says: 'Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.',
    },
    {
      what: 'a name of a tool with other characters than letters, digits, `_` and `-`, or over 64',
      body: { tools: [tool({ name: 'a.b' })] },
      says: 'Function name was a.b but must be',
    },
    {
      what: 'a schema that JSON Schema draft 7 does not allow',
      body: { tools: [tool({ parameters: toSchema({ type: 'text' }) })] },
      says: 'Invalid tool schema',
    },
    {
      what: 'a picture in the result of a tool',
      body: { messages: [user(), calling(['abcdef123']), result('abcdef123', [IMAGE])] },
      says: 'validation errors for ToolMessage',
    },
  ],
})
