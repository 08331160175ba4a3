import { expect, it } from 'vitest'
import type { ModelMessage, ModelRequest } from '../../core/model.ts'
import { createRequestWriter } from './request-writer.ts'

const provider = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: '', model: 'm "quoted"' }
const dialect = { limit: 'max_tokens', usage: true } as const
const request: ModelRequest = {
  system: 'be kind',
  messages: [
    { role: 'user', items: [], text: 'look "there"\n' },
    { role: 'assistant', text: '', calls: [{ id: 'a', name: 'look', arguments: '{"at":1}' }] },
    { role: 'tool', callId: 'a', name: 'look', text: 'ünïcode', isError: false },
  ],
  tools: [{ name: 'look', description: 'looks', inputSchema: { type: 'object' } }],
  maxOutput: 99,
  timezone: 'UTC',
  now: 0,
}

it('writes a request that says all', () => {
  const text = createRequestWriter(provider)(request)(dialect)
  expect(JSON.parse(text)).toEqual({
    model: 'm "quoted"',
    messages: [
      { role: 'system', content: 'be kind' },
      { role: 'user', content: 'look "there"\n' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'ünïcode' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'look', description: 'looks', parameters: { type: 'object', properties: {} } },
      },
    ],
    stream: true,
    max_tokens: 99,
    stream_options: { include_usage: true },
  })
})

it('leaves out what is not there, and what a provider refuses', () => {
  const bare = { ...request, system: '', messages: request.messages.slice(0, 1), tools: [] }
  const text = createRequestWriter(provider)(bare)({ limit: 'max_completion_tokens', usage: false })
  expect(JSON.parse(text)).toEqual({
    model: 'm "quoted"',
    messages: [{ role: 'user', content: 'look "there"\n' }],
    stream: true,
    max_completion_tokens: 99,
  })
})

it('joins neighbouring messages of the user, as where an agent said nothing in between', () => {
  const say = (text: string): ModelMessage => ({ role: 'user', items: [], text })
  const messages = [say('one'), say('two'), say('three'), ...request.messages.slice(1), say('four')]
  const text = createRequestWriter(provider)({ ...request, system: '', messages })(dialect)
  const written = JSON.parse(text).messages as { role: string; content: string }[]
  expect(written.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
  expect(written[0]?.content).toBe('one\n\ntwo\n\nthree')
})

it('gives a longer history the same bytes for its beginning', () => {
  const write = createRequestWriter(provider)
  const start = (messages: ModelMessage[]) => {
    const text = write({ ...request, messages })(dialect)
    return text.slice(0, text.indexOf('],"tools"'))
  }
  for (let length = 1; length <= request.messages.length; length++) {
    const [longer, shorter] = [
      start(request.messages.slice(0, length)),
      start(request.messages.slice(0, length - 1)),
    ]
    expect(longer.startsWith(shorter)).toBe(true)
    expect(longer.length).toBeGreaterThan(shorter.length)
  }
})
