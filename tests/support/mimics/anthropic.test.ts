import { anthropicRules, checkAnthropic } from './anthropic.ts'
import { toSchema } from './chat-requests.ts'
import { testChecks } from './check-table.ts'

const text = (value: string, more: object = {}) => ({ type: 'text', text: value, ...more })
const user = { role: 'user', content: [text('Hi')] }
const use = (id = 'toolu_1', more: object = {}) => ({
  type: 'tool_use',
  id,
  name: 'get_time',
  input: {},
  ...more,
})
const result = (tool_use_id = 'toolu_1', content: unknown = 'noon') => ({
  type: 'tool_result',
  tool_use_id,
  content,
})
const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'EqQB1' }
const says = (...content: object[]) => ({ role: 'assistant', content })
const asks = (...content: object[]) => ({ role: 'user', content })
const of = (...messages: object[]) => ({ messages: [user, ...messages] })
const tool = (more: object = {}) => ({
  name: 'get_time',
  description: 'The time',
  input_schema: toSchema({ type: 'string' }),
  ...more,
})
const marked = { cache_control: { type: 'ephemeral' } }
const ROLE = 'a role other than `user` and `assistant`'
const FIRST = 'no message, or a first one that is not of the user'
const EMPTY = 'a text without anything in it'
const UNANSWERED = 'a call whose result does not begin the next message'

testChecks('anthropic', {
  check: checkAnthropic,
  rules: anthropicRules,
  issued: new Map([['EqQB1', 'Hm.']]),
  good: {
    'a minimal request': { model: 'claude-sonnet-5', max_tokens: 100, messages: [user] },
    'thinking, parallel calls and their results': {
      model: 'claude-sonnet-5',
      max_tokens: 4096,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      system: [text('Help.', marked)],
      tools: [tool(marked)],
      ...of(
        says(thinking, text('I look.'), use(), use('toolu_2')),
        asks(result(), result('toolu_2', [text('noon')]), text('And now?', marked)),
      ),
    },
  },
  bad: [
    {
      what: 'a parameter that it does not know',
      body: { max_completion_tokens: 1 },
      says: 'max_completion_tokens: Extra inputs are not permitted',
    },
    { what: 'no `max_tokens`', body: { max_tokens: undefined }, says: 'max_tokens: Field required' },
    {
      what: '`max_tokens` that its thinking would use up',
      body: { thinking: { type: 'enabled', budget_tokens: 100 } },
      says: '`max_tokens` must be greater than `thinking.budget_tokens`',
    },
    {
      what: 'a `temperature` other than 1 beside thinking',
      body: { thinking: { type: 'adaptive' }, temperature: 0 },
      says: '`temperature` may only be set to 1',
    },
    {
      what: 'more than four marks of the cache',
      body: { messages: [asks(...['a', 'b', 'c', 'd', 'e'].map(letter => text(letter, marked)))] },
      says: 'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    },
    {
      what: 'a mark of the cache on thinking',
      body: of(says({ ...thinking, ...marked }, text('Yes')), user),
      says: 'cache_control: Extra inputs are not permitted',
    },
    {
      what: 'a name of a tool with other characters than letters, digits, `_` and `-`, or over 128',
      body: { tools: [tool({ name: 'a.b' })] },
      says: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    },
    { what: 'two tools of one name', body: { tools: [tool(), tool()] }, says: 'Tool names must be unique' },
    {
      what: "a union at the top of a tool's schema",
      body: { tools: [tool({ input_schema: { type: 'object', anyOf: [] } })] },
      says: 'does not support oneOf, allOf, or anyOf at the top level',
    },
    {
      what: "a tool's schema that is no object",
      body: { tools: [tool({ input_schema: {} })] },
      says: 'tools.0.custom.input_schema.type: Field required',
    },
    {
      what: "an argument's name with other characters than letters, digits, `_`, `.` and `-`, or over 64",
      body: { tools: [tool({ input_schema: { type: 'object', properties: { 'a b': {} } } })] },
      says: 'Property keys should match pattern',
    },
    {
      what: 'a schema that JSON Schema 2020-12 does not allow',
      body: { tools: [tool({ input_schema: toSchema({ type: 'text' }) })] },
      says: 'It must match JSON Schema draft 2020-12',
    },
    {
      what: ROLE,
      body: of({ role: 'system', content: 'Help.' }),
      says: 'messages: Unexpected role "system"',
    },
    { what: FIRST, body: { messages: [] }, says: 'at least one message is required' },
    { what: FIRST, body: { messages: [says(text('Yes')), user] }, says: 'first message must use the' },
    {
      what: 'a last message of the assistant',
      body: of(says(text('Yes'))),
      says: 'does not support assistant message prefill',
    },
    {
      what: 'a message without content',
      body: of(says(), user),
      says: 'messages.1: all messages must have non-empty content',
    },
    { what: EMPTY, body: of(says(text('')), user), says: 'messages: text content blocks must be non-empty' },
    { what: EMPTY, body: of(says(use()), asks(result('toolu_1', [text('')]))), says: 'must be non-empty' },
    { what: EMPTY, body: { system: [text('')] }, says: 'system: text content blocks must be non-empty' },
    {
      what: 'a text of white space alone',
      body: of(says(text(' \n')), user),
      says: 'must contain non-whitespace text',
    },
    {
      what: 'the same id for two calls',
      body: of(says(use()), asks(result()), says(use()), asks(result())),
      says: '`tool_use` ids must be unique',
    },
    {
      what: 'an id of a call with other characters than letters, digits, `_` and `-`',
      body: of(says(use('a:1')), asks(result('a:1'))),
      says: 'messages.1.content.0.tool_use.id: String should match pattern',
    },
    {
      what: 'arguments of a call that are no object',
      body: of(says(use('toolu_1', { input: '{}' })), asks(result())),
      says: 'tool_use.input: Input should be a valid dictionary',
    },
    {
      what: UNANSWERED,
      body: of(says(use()), user),
      says: 'without `tool_result` blocks immediately after: toolu_1',
    },
    {
      what: UNANSWERED,
      body: of(says(use()), asks(text('And'), result())),
      says: 'without `tool_result` blocks immediately after: toolu_1',
    },
    {
      what: 'a result without its call in the message before',
      body: of(says(text('Yes')), asks(result())),
      says: 'messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1',
    },
    {
      what: 'two results for one call',
      body: of(says(use()), asks(result(), result())),
      says: 'each tool_use must have a single result',
    },
    {
      what: 'thinking that it did not sign, or that was changed',
      body: of(says({ ...thinking, signature: 'mine' }, text('Yes')), user),
      says: 'messages.1.content.0: Invalid `signature` in `thinking` block',
    },
    {
      what: 'thinking that it did not sign, or that was changed',
      body: of(says({ ...thinking, thinking: '' }, text('Yes')), user),
      says: 'Invalid `signature`',
    },
    { what: 'thinking at the end of a message', body: of(says(thinking), user), says: 'The final block' },
    {
      what: 'calls of the current turn without thinking before them, where `thinking` is `enabled`',
      body: {
        max_tokens: 2000,
        thinking: { type: 'enabled', budget_tokens: 1024 },
        ...of(says(use()), asks(result())),
      },
      says: 'Expected `thinking` or `redacted_thinking`, but found `tool_use`',
    },
  ],
})
