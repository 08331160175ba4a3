import { describe, expect, it } from 'vitest'
import type { ModelMessage } from '../../core/model.ts'
import { toChatMessage, toChatTool } from './messages.ts'

const call = (name: string, args: string) => ({ id: 'c1', name, arguments: args })
const sent = (name: string, args: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name, arguments: args } }],
})

const MESSAGES: [what: string, given: ModelMessage, expected: object][] = [
  ['a user message', { role: 'user', text: 'hi', items: [] }, { role: 'user', content: 'hi' }],
  ['a text', { role: 'assistant', text: 'yes', calls: [] }, { role: 'assistant', content: 'yes' }],
  ['an empty reply', { role: 'assistant', text: '', calls: [] }, { role: 'assistant', content: '' }],
  ['a call', { role: 'assistant', text: '', calls: [call('f', '{"a":1}')] }, sent('f', '{"a":1}')],
  [
    'a call beside text',
    { role: 'assistant', text: 'wait', calls: [call('f', '{}')] },
    { ...sent('f', '{}'), content: 'wait' },
  ],
  [
    'a result',
    { role: 'tool', callId: 'c1', name: 'f', text: 'ok', isError: false, structured: { a: 1 } },
    { role: 'tool', tool_call_id: 'c1', content: 'ok' },
  ],
  [
    'arguments that are no JSON, as a valid object',
    { role: 'assistant', text: '', calls: [call('f', '{"a":')] },
    sent('f', '{"invalid_arguments":"{\\"a\\":"}'),
  ],
  [
    'arguments that are no object, as a valid object',
    { role: 'assistant', text: '', calls: [call('f', '[1]')] },
    sent('f', '{"invalid_arguments":"[1]"}'),
  ],
  [
    'arguments exactly as the model spaced them',
    { role: 'assistant', text: '', calls: [call('f', '{ "a" : 1 }')] },
    sent('f', '{ "a" : 1 }'),
  ],
  [
    'a made-up name in the allowed alphabet',
    { role: 'assistant', text: '', calls: [call('functions.get time', '{}')] },
    sent('functions_get_time', '{}'),
  ],
  [
    'a long made-up name cut to the allowed length',
    { role: 'assistant', text: '', calls: [call('f'.repeat(70), '{}')] },
    sent('f'.repeat(64), '{}'),
  ],
  ['a missing name', { role: 'assistant', text: '', calls: [call('', '{}')] }, sent('unknown', '{}')],
]

describe('toChatMessage', () => {
  it.each(MESSAGES)('sends %s', (_, given, expected) => {
    expect(toChatMessage(given, undefined)).toEqual(expected)
  })
})

describe('toChatTool', () => {
  it('sends name, description and a schema that every provider takes', () => {
    const inputSchema = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' }
    const tool = toChatTool({ name: 'f', title: 'F', description: 'does f', inputSchema, readOnly: true })
    expect(tool).toEqual({
      type: 'function',
      function: { name: 'f', description: 'does f', parameters: { type: 'object', properties: {} } },
    })
  })

  it('keeps properties as they are', () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
    const tool = toChatTool({ name: 'f', description: '', inputSchema })
    expect(tool.function.parameters).toEqual(inputSchema)
  })
})

it('what a model thought before it called tools goes back to that model alone', () => {
  const message: ModelMessage = {
    role: 'assistant',
    text: '',
    calls: [{ id: 'a', name: 'look', arguments: '{}' }],
    thinking: { by: 'm at http://p', text: 'first look' },
  }
  expect(toChatMessage(message, 'm at http://p')).toMatchObject({ reasoning_content: 'first look' })
  expect(toChatMessage(message, 'other at http://p')).not.toHaveProperty('reasoning_content')
  expect(toChatMessage(message, 'm at http://p')).not.toHaveProperty('tool_calls.0.extra_content')
  const answer: ModelMessage = { ...message, calls: [], text: 'done' }
  expect(toChatMessage(answer, 'm at http://p')).not.toHaveProperty('reasoning_content')
})

it('what came beside a call goes back beside it, to who sent it alone', () => {
  const extra = { google: { thought_signature: 'c2lnbmVk' } }
  const message: ModelMessage = {
    role: 'assistant',
    text: '',
    calls: [
      { id: 'a', name: 'look', arguments: '{}' },
      { id: 'b', name: 'look', arguments: '{}' },
    ],
    thinking: { by: 'm at http://p', text: '', extras: [extra, null] },
  }
  const asked = toChatMessage(message, 'm at http://p')
  expect(asked).toMatchObject({ tool_calls: [{ id: 'a', extra_content: extra }, { id: 'b' }] })
  expect(asked).not.toHaveProperty('tool_calls.1.extra_content')
  expect(asked).not.toHaveProperty('reasoning_content')
  expect(toChatMessage(message, 'other at http://p')).not.toHaveProperty('tool_calls.0.extra_content')
})
