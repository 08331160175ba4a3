import { assistant, calling, result, tool, user } from './chat-requests.ts'
import { testChecks } from './check-table.ts'
import { checkOpenRouter, openRouterRules } from './openrouter.ts'

const detail = (data: string, id = 'tool_1') => ({
  type: 'reasoning.encrypted',
  data,
  id,
  index: 0,
  format: 'google-gemini-v1',
})
const signed = (...details: object[]) => calling(['tool_1', 'tool_2'], { reasoning_details: details })
const both = [result('tool_1'), result('tool_2')]
const SEVERAL =
  'several encrypted `reasoning_details` in a message, or one that does not belong to the first call'

testChecks('openrouter', {
  check: checkOpenRouter,
  rules: openRouterRules,
  issued: new Map([['EpEg1', '']]),
  good: {
    'a minimal request': { model: 'google/gemini-3-flash-preview', messages: [user()] },
    'parallel calls with their details, after a turn without': {
      model: 'google/gemini-3-flash-preview',
      tools: [tool()],
      messages: [
        user(),
        calling(['tool_3']),
        result('tool_3'),
        assistant(),
        user(),
        signed(detail('EpEg1')),
        ...both,
      ],
    },
    'the placeholder for a call that another model made': {
      model: 'google/gemini-3-flash-preview',
      messages: [user(), signed(detail('skip_thought_signature_validator')), ...both],
    },
    'calls without details for another model': {
      model: 'qwen/qwen3-32b',
      messages: [user(), calling(['tool_1']), result('tool_1')],
    },
  },
  bad: [
    {
      what: 'calls of the current turn without their `reasoning_details` (Gemini 3 and later)',
      body: { messages: [user(), calling(['tool_1']), result('tool_1')] },
      says: 'Gemini models require OpenRouter reasoning details to be preserved in each request',
    },
    {
      what: SEVERAL,
      body: { messages: [user(), signed(detail('EpEg1'), detail('EpEg1', 'tool_2')), ...both] },
      says: 'Thought signature is not valid',
    },
    {
      what: SEVERAL,
      body: { messages: [user(), signed(detail('EpEg1', 'tool_2')), ...both] },
      says: 'Thought signature is not valid',
    },
    {
      what: 'encrypted `reasoning_details` that it did not make',
      body: { messages: [user(), signed(detail('mine')), ...both] },
      says: 'Corrupted thought signature.',
    },
    {
      what: 'another number of results than of calls',
      body: { messages: [user(), signed(detail('EpEg1')), result('tool_1')] },
      says: 'function response turn comes immediately after a function call turn',
    },
  ],
})
