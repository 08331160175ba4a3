import { assistant, calling, IMAGE, result, tool, user } from './chat-requests.ts'
import { testChecks } from './check-table.ts'
import { checkDeepSeek, deepSeekRules } from './deepseek.ts'

const THOUGHT = { reasoning_content: 'Hm.' }
const UNTHOUGHT =
  'an assistant message without `reasoning_content` from the first call on, unless `thinking` is `disabled`'
const NEEDED = 'The `reasoning_content` in the thinking mode must be passed back to the API.'
const turn = (call: object, reply: object) => ({
  messages: [user(), calling(['a1'], { ...call }), result('a1'), assistant({ ...reply }), user()],
})

testChecks('deepseek', {
  check: checkDeepSeek,
  rules: deepSeekRules,
  good: {
    'a minimal request': { model: 'deepseek-v4-pro', messages: [user()], stream: true },
    'replies before the first call without reasoning': {
      model: 'deepseek-v4-pro',
      tools: [tool()],
      messages: [user(), assistant(), ...turn(THOUGHT, THOUGHT).messages],
    },
    'empty reasoning of a call that another model made': {
      model: 'deepseek-v4-pro',
      ...turn({ reasoning_content: '' }, { reasoning_content: '' }),
    },
    'no reasoning where it does not think': {
      model: 'deepseek-v4-pro',
      thinking: { type: 'disabled' },
      ...turn({}, {}),
    },
    'a picture for a model that sees': { model: 'deepseek-flash', messages: [user([IMAGE])] },
  },
  bad: [
    {
      what: 'a role that it does not know (`developer`)',
      body: { messages: [user(), { role: 'developer', content: '' }] },
      says: 'messages[1].role: unknown variant `developer`, expected one of `system`, `user`',
    },
    {
      what: 'a picture, where the model is not one of the `flash` models',
      body: { messages: [user([IMAGE])] },
      says: 'messages[0]: unknown variant `image_url`, expected `text`',
    },
    {
      what: 'an assistant message with neither text nor calls',
      body: { messages: [user(), assistant({ content: '', ...THOUGHT }), user()] },
      says: 'Invalid assistant message: content or tool_calls must be set',
    },
    {
      what: 'a call without its result after it',
      body: { messages: [user(), calling(['a1'], THOUGHT), user()] },
      says: 'insufficient tool messages following tool_calls message',
    },
    {
      what: 'a result without its call before it',
      body: { messages: [user(), result('a1')] },
      says: "Messages with role 'tool' must be a response",
    },
    { what: UNTHOUGHT, body: turn({}, THOUGHT), says: NEEDED },
    { what: UNTHOUGHT, body: turn(THOUGHT, {}), says: NEEDED },
    { what: 'an empty list of tools', body: { tools: [] }, says: 'empty array' },
    {
      what: 'a name of a tool with other characters than letters, digits, `_` and `-`, or over 64',
      body: { tools: [tool({ name: 'a.b' })] },
      says: "Invalid 'tools[0].function.name'",
    },
  ],
})
