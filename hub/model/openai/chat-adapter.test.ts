import { describe, expect, it } from 'vitest'
import type { ModelMessage } from '../../core/model.ts'
import { toChatMessage, toChatMessages, toChatTool } from './chat-adapter.ts'

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
    'arguments exactly as the model spaced them',
    { role: 'assistant', text: '', calls: [call('f', '{ "a" : 1 }')] },
    sent('f', '{ "a" : 1 }'),
  ],
]

describe('toChatMessage', () => {
  it.each(MESSAGES)('sends %s', (_, given, expected) => {
    expect(toChatMessage(given)).toEqual(expected)
  })
})

const thinking = { by: 'compatible/m', text: 'first look' }
const thoughtful = (fields: object): ModelMessage => ({
  role: 'assistant',
  text: '',
  calls: [call('look', '{}'), call('look', '{}')],
  thinking: { ...thinking, ...fields },
})

describe('what a model thought goes back', () => {
  it('as reasoning_content, empty too', () => {
    expect(toChatMessage(thoughtful({}))).toMatchObject({ reasoning_content: 'first look' })
    expect(toChatMessage(thoughtful({ text: '' }))).toMatchObject({ reasoning_content: '' })
  })

  it('beside the calls that it came with', () => {
    const sign = { google: { thought_signature: 'c2ln' } }
    const message = toChatMessage(thoughtful({ text: '', extras: [sign, null] }))
    expect(message).toMatchObject({ tool_calls: [{ extra_content: sign }, { id: 'c1' }] })
    expect(message).not.toHaveProperty('reasoning_content')
  })

  it('as the reasoning_details of OpenRouter', () => {
    const details = [{ type: 'reasoning.encrypted', data: 'x' }]
    const message = toChatMessage(thoughtful({ text: '', parts: details }))
    expect(message).toMatchObject({ reasoning_details: details })
    expect(message).not.toHaveProperty('reasoning_content')
  })
})

it('sends a picture as a part, and the text before it', () => {
  const images = [{ mimeType: 'image/png', data: 'aGk=' }]
  expect(toChatMessage({ role: 'user', text: 'look', items: [], images })).toEqual({
    role: 'user',
    content: [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
    ],
  })
})

it("marks the ends of Anthropic's cache", () => {
  const user = (text: string): ModelMessage => ({ role: 'user', text, items: [] })
  const marked = (text: string) => [{ type: 'text', text, cache_control: { type: 'ephemeral' } }]
  const messages = toChatMessages('You are', [user('a'), user('b'), user('c')], true)
  expect(messages.map(({ content }) => content)).toEqual([marked('You are'), 'a', marked('b'), 'c'])
  expect(JSON.stringify(toChatMessages('You are', [user('a')], false))).not.toContain('cache_control')
})

it('sends name, description and schema of a tool, and nothing else', () => {
  const inputSchema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  const tool = toChatTool({ name: 'f', title: 'F', description: 'does f', inputSchema, readOnly: true })
  expect(tool).toEqual({
    type: 'function',
    function: { name: 'f', description: 'does f', parameters: inputSchema },
  })
})
