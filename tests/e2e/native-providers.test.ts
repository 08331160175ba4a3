import { describe, expect, it } from 'vitest'
import type { ModelMessage, ModelReply } from '../../hub/core/model.ts'
import {
  ask,
  failure,
  live,
  manualClock,
  openModel,
  refuse,
  request,
  SSE,
  serve,
  stream,
} from '../support/provider.ts'

type Events = readonly object[]

const toStream = (events: Events) =>
  events
    .map(event => `${'type' in event ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('')

const usage = { input_tokens: 12, output_tokens: 3 }
const ANTHROPIC: Events = [
  { type: 'message_start', message: { id: 'm', model: 'm', role: 'assistant', content: [], usage } },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'so' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hi' } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'tool_use', id: 'c1', name: 'get_time', input: {} },
  },
  {
    type: 'content_block_delta',
    index: 2,
    delta: { type: 'input_json_delta', partial_json: '{"zone":"UTC"}' },
  },
  { type: 'content_block_stop', index: 2 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage },
  { type: 'message_stop' },
]
const GOOGLE: Events = [
  {
    candidates: [
      {
        content: {
          parts: [{ functionCall: { name: 'get_time', args: { zone: 'UTC' } }, thoughtSignature: 'c2ln' }],
          role: 'model',
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 3, totalTokenCount: 15 },
  },
]
const choice = (delta: object, finish_reason: string | null = null) => ({
  id: '1',
  choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason }],
})
const called = (id: string) => ({
  tool_calls: [
    { index: 0, id, type: 'function', function: { name: 'get_time', arguments: '{"zone":"UTC"}' } },
  ],
})
const counted = { usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 } }
const DEEPSEEK: Events = [
  choice({ reasoning_content: 'so' }),
  choice(called('c1')),
  { ...choice({}, 'tool_calls'), ...counted },
]
const MISTRAL: Events = [choice(called('abcdefghi')), { ...choice({}, 'tool_calls'), ...counted }]
const item = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'secret' }
const fn = {
  id: 'fc_1',
  type: 'function_call',
  call_id: 'c1',
  name: 'get_time',
  arguments: '{"zone":"UTC"}',
  status: 'completed',
}
const OPENAI: Events = [
  { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
  { type: 'response.output_item.added', output_index: 0, item },
  { type: 'response.output_item.done', output_index: 0, item },
  {
    type: 'response.output_item.added',
    output_index: 1,
    item: { ...fn, arguments: '', status: 'in_progress' },
  },
  { type: 'response.output_item.done', output_index: 1, item: fn },
  { type: 'response.completed', response: { usage } },
]

/** Makes the second request of a turn, with the first one's reply and a result. */
async function turn(provider: string, model: string, events: Events, fields: object = {}) {
  await using server = await serve(stream(toStream(events)))
  const asked = openModel(server.url, { provider, model, ...fields })
  const { reply } = await ask(asked, 'hi')
  const call = reply.calls[0]
  const messages: ModelMessage[] = [
    { role: 'user', text: 'hi', items: [] },
    { role: 'assistant', ...reply },
    { role: 'tool', callId: call?.id ?? '', name: 'get_time', text: '12:00', isError: false },
  ]
  await ask(asked, request('', { messages: JSON.parse(JSON.stringify(messages)) }))
  return { reply, bodies: server.bodies.map(body => JSON.parse(body)), calls: server.calls }
}

describe('native providers', () => {
  const CASES: [provider: string, model: string, events: Events, reply: Partial<ModelReply>][] = [
    ['anthropic', 'claude-sonnet-4-5', ANTHROPIC, { text: 'Hi' }],
    ['google', 'gemini-3-pro', GOOGLE, { text: '' }],
    ['mistral', 'mistral-large-latest', MISTRAL, { text: '' }],
    ['deepseek', 'deepseek-v4-flash', DEEPSEEK, { text: '' }],
    ['openai', 'gpt-5.4', OPENAI, { text: '' }],
  ]

  it.each(CASES)('%s gives a call with usage', async (provider, model, events, expected) => {
    const { reply } = await turn(provider, model, events)
    expect(reply).toMatchObject({
      ...expected,
      usage: { input: 12, output: 3, cachedInput: 0 },
      truncated: false,
    })
    expect(reply.calls).toMatchObject([{ name: 'get_time' }])
    expect(JSON.parse(reply.calls[0]?.arguments ?? '')).toEqual({ zone: 'UTC' })
  })

  it('Anthropic gets its thoughts back with their signature, and marks of the cache', async () => {
    const { reply, bodies, calls } = await turn('anthropic', 'claude-sonnet-4-5', ANTHROPIC)
    expect(reply.thinking).toMatchObject({ text: 'so' })
    const mark = { type: 'ephemeral' }
    expect(bodies[1]).toMatchObject({
      system: [{ type: 'text', cache_control: mark }],
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'so', signature: 'sig' },
            { type: 'text', text: 'Hi' },
            { type: 'tool_use', id: 'c1', input: { zone: 'UTC' }, cache_control: mark },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1' }] },
      ],
    })
    expect(JSON.stringify(bodies[1]).match(/cache_control/g)).toHaveLength(2)
    expect(calls[0]?.headers['x-api-key']).toBe('sk-never-shown')
  })

  it('Gemini gets its signature back', async () => {
    const { bodies } = await turn('google', 'gemini-3-pro', GOOGLE)
    expect(bodies[1].contents).toMatchObject([
      { role: 'user' },
      { role: 'model', parts: [{ functionCall: { name: 'get_time' }, thoughtSignature: 'c2ln' }] },
      { role: 'user', parts: [{ functionResponse: { name: 'get_time' } }] },
    ])
  })

  it('DeepSeek gets its reasoning back', async () => {
    const { bodies } = await turn('deepseek', 'deepseek-v4-flash', DEEPSEEK)
    expect(bodies[1].messages.at(-2)).toMatchObject({ role: 'assistant', reasoning_content: 'so' })
  })

  it('OpenAI stores nothing, and gets its encrypted thoughts back', async () => {
    const { bodies } = await turn('openai', 'gpt-5.4', OPENAI, { reasoning: 'low' })
    expect(bodies[1]).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: bodies[0].prompt_cache_key,
      reasoning: { effort: 'low' },
      max_output_tokens: 256,
      tools: [{ type: 'function', name: 'get_time', strict: false }],
    })
    expect(bodies[1].input.slice(-3)).toMatchObject([
      { type: 'reasoning', encrypted_content: 'secret' },
      { type: 'function_call', call_id: 'c1' },
      { type: 'function_call_output', call_id: 'c1', output: '12:00' },
    ])
    expect(bodies[0].prompt_cache_key).toMatch(/^\w{32}$/)
  })

  it.each(CASES)(
    '%s gets headers and body of its entry, and not what a repair leaves out',
    async (provider, model, events) => {
      const entry = { headers: { 'x-team': 'lab' }, body: { extra: { a: 1 } }, temperature: 0.3 }
      const { bodies, calls } = await turn(provider, model, events, entry)
      expect(bodies[0].extra).toEqual({ a: 1 })
      expect(calls[0]?.headers['x-team']).toBe('lab')
      await using server = await serve((response, body, call) => {
        if (!body.includes('"temperature"')) return stream(toStream(events))(response, body, call)
        const param = provider === 'google' ? 'generation_config.temperature' : 'temperature'
        refuse(response, 400, { param, message: 'no' })
      })
      // The package sends no temperature to reasoning models.
      await ask(openModel(server.url, { provider, model, ...entry }), 'hi')
      expect(server.bodies.at(-1)).not.toContain('"temperature"')
    },
  )

  it.each(CASES)(
    '%s is told apart when it refuses, fails, breaks off and stalls',
    async (provider, model, events) => {
      await using refusing = await serve(response => refuse(response, 401, { message: 'no such key' }))
      const refused = await failure(ask(openModel(refusing.url, { provider, model }), 'hi'))
      expect(refused).toMatchObject({ kind: 'auth', status: 401, refusal: { said: 'no such key' } })
      await using limiting = await serve(response => refuse(response, 429, {}, { 'retry-after': '7' }))
      expect(await failure(ask(openModel(limiting.url, { provider, model }), 'hi'))).toMatchObject({
        kind: 'rate_limit',
        retryAfter: 7_000,
      })
      const first = toStream(events.slice(0, 1)).slice(0, -2)
      await using breaking = await serve(response =>
        response.writeHead(200, SSE).write(first, () => response.socket?.destroy()),
      )
      expect(await failure(ask(openModel(breaking.url, { provider, model }), 'hi'))).toMatchObject({
        kind: 'broken_stream',
      })
      await using stalling = await serve(response => void response.writeHead(200, SSE).write(first))
      const { clock, fire, armed } = manualClock()
      const stalled = failure(ask(openModel(stalling.url, { provider, model, clock }), 'hi'))
      await armed(120_000, 2)
      fire(120_000)
      expect(await stalled).toMatchObject({ kind: 'network' })
    },
  )

  it.each(CASES)(
    "%s stops with the signal's reason, and lets through what onText throws",
    async (provider, model) => {
      await using server = await serve(response => void response.writeHead(200, SSE).write(': wait\n\n'))
      const stop = new AbortController()
      server.events.once('request', () => stop.abort('stop'))
      await expect(ask(openModel(server.url, { provider, model }), 'hi', stop.signal)).rejects.toBe('stop')
      await expect(
        ask(openModel(server.url, { provider, model }), 'hi', AbortSignal.abort('no')),
      ).rejects.toBe('no')
      expect(server.bodies).toHaveLength(1)
    },
  )

  it.each([
    ['mistral', ['<think>hm</think>\n\nHi']],
    ['deepseek', ['<think>', 'hm', '</think>', '\n\n', 'Hi', ' there']],
    ['deepseek', ['\n\n', 'Hi']],
  ])('%s begins no reply with thoughts or blank lines: %j', async (provider, pieces) => {
    const events = [...pieces.map(content => choice({ content })), choice({}, 'stop')]
    await using server = await serve(stream(toStream(events)))
    const { reply, shown } = await ask(openModel(server.url, { provider, model: 'm' }), 'hi')
    expect(reply.text).toMatch(/^Hi/)
    expect(shown.join('')).toBe(reply.text)
  })

  it('an error of a caller passes through', async () => {
    await using server = await serve(stream(toStream(ANTHROPIC)))
    const bug = new Error('a bug of the caller')
    const onText = () => {
      throw bug
    }
    const model = openModel(server.url, { provider: 'anthropic', model: 'm' })
    await expect(model.complete(request('hi'), { signal: live(), onText })).rejects.toBe(bug)
  })
})
