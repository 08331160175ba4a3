import { assistant, calling, result, tool, user } from './chat-requests.ts'
import { testChecks } from './check-table.ts'
import { checkGroq, groqRules } from './groq.ts'

const FIELD = 'a field of a message that it does not know (`reasoning_content`, `reasoning`, …)'

testChecks('groq', {
  check: checkGroq,
  rules: groqRules,
  good: {
    'a minimal request': { model: 'openai/gpt-oss-120b', messages: [user()], max_tokens: 100 },
    'a turn with a call': {
      model: 'openai/gpt-oss-120b',
      tools: [tool()],
      messages: [user(), calling(['a1']), result('a1')],
    },
  },
  bad: [
    {
      what: 'a parameter that it does not know',
      body: { thinking: {} },
      says: "property 'thinking' is unsupported",
    },
    {
      what: FIELD,
      body: { messages: [user(), assistant({ reasoning_content: '' }), user()] },
      says: "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    },
    {
      what: FIELD,
      body: { messages: [assistant({ reasoning: '' })] },
      says: "property 'reasoning' is unsupported",
    },
    {
      what: 'more than 128 tools',
      body: { tools: Array.from({ length: 129 }, () => tool()) },
      says: "'tools' : maximum number of items is 128",
    },
    {
      what: 'a result that names no call',
      body: { messages: [user(), { role: 'tool', content: 'noon' }] },
      says: "property 'tool_call_id' is missing",
    },
  ],
})
