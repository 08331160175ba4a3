import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../hub/core/model.ts'
import { ask, failure, KEY, openModel, request } from '../support/provider.ts'

describe('against aimock', () => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 5 })
  const url = () => `${mock.url}/v1`
  const slow = { latency: 50, chunkSize: 1 }

  beforeAll(async () => {
    mock.onMessage(
      'text',
      {
        content: '<think>Say hello?</think>Hello from the mock',
        reasoning: 'They want a greeting.',
        usage: { prompt_tokens: 40, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 32 } },
      },
      { openRouterProcessing: true },
    )
    mock.onMessage('calls', {
      content: 'One moment',
      toolCalls: [
        { id: 'call_a', name: 'get_time', arguments: '{"zone":"Europe/Berlin"}' },
        { id: 'call_b', name: 'get_time', arguments: '{}' },
      ],
    })
    mock.onMessage(
      'cut off',
      { content: 'This will not come through whole' },
      { latency: 5, truncateAfterChunks: 3 },
    )
    mock.onMessage('dies', { content: 'x'.repeat(1_000) }, { ...slow, disconnectAfterMs: 200 })
    mock.onMessage('slow', { content: 'x'.repeat(1_000) }, slow)
    mock.onMessage('long', { content: 'Too lo', finishReason: 'length' })
    mock.onMessage('limited', {
      error: { message: 'Slow down', code: 'rate_limit_exceeded' },
      status: 429,
      retryAfter: 7,
    })
    mock.onMessage('down', { error: { message: 'Internal error' }, status: 500 })
    mock.onMessage('big', {
      error: { message: 'Too many tokens', code: 'context_length_exceeded' },
      status: 400,
    })
    mock.onMessage('locked', { error: { message: `Incorrect API key provided: ${KEY}` }, status: 401 })
    await mock.start()
  })
  afterAll(() => mock.stop())

  it('gets a text with its usage, without what the model thought', async () => {
    const { reply, shown } = await ask(openModel(url()), 'text')
    expect(reply).toEqual({
      text: 'Hello from the mock',
      calls: [],
      thinking: { by: `compatible/qwen3:32b at ${url()}`, text: expect.stringMatching(/./) },
      usage: { input: 40, output: 9, cachedInput: 0 },
      truncated: false,
    })
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.join('')).toBe(reply.text)
  })

  it('gets from OpenRouter a text after comments, and what of it was cached', async () => {
    const { reply } = await ask(openModel(`${mock.url}/api/v1`), 'text')
    expect(reply).toMatchObject({
      text: 'Hello from the mock',
      usage: { input: 40, output: 9, cachedInput: 32 },
    })
  })

  it('gets calls, and sends them back with their results', async () => {
    const model = openModel(url())
    const { reply } = await ask(model, 'calls')
    expect(reply).toMatchObject({
      text: 'One moment',
      calls: [
        { id: 'call_a', name: 'get_time', arguments: '{"zone":"Europe/Berlin"}' },
        { id: 'call_b', name: 'get_time', arguments: '{}' },
      ],
    })
    const history: ModelRequest['messages'] = [
      { role: 'user', text: 'calls', items: [] },
      { role: 'assistant', text: reply.text, calls: reply.calls },
      { role: 'tool', callId: 'call_a', name: 'get_time', text: '12:00', isError: false },
      { role: 'tool', callId: 'call_b', name: 'get_time', text: '11:00', isError: false },
    ]
    await ask(model, request('', { messages: [...history, { role: 'user', text: 'text', items: [] }] }))
    expect(mock.getLastRequest()?.body).toMatchObject({
      model: 'qwen3:32b',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 256,
      tools: [{ type: 'function', function: { name: 'get_time' } }],
      messages: [
        { role: 'system', content: 'You look after a homelab.' },
        { role: 'user', content: 'calls' },
        { role: 'assistant', content: 'One moment', tool_calls: [{ id: 'call_a' }, { id: 'call_b' }] },
        { role: 'tool', tool_call_id: 'call_a', content: '12:00' },
        { role: 'tool', tool_call_id: 'call_b', content: '11:00' },
        { role: 'user', content: 'text' },
      ],
    })
  })

  it('says that a reply was cut at its limit', async () => {
    expect((await ask(openModel(url()), 'long')).reply).toMatchObject({ text: 'Too lo', truncated: true })
  })

  it.each(['cut off', 'dies'])('throws for a connection that breaks in a reply: %s', async text => {
    expect(await failure(ask(openModel(url()), text))).toMatchObject({
      kind: expect.stringMatching(/^(broken_stream|network)$/),
      retryable: true,
    })
  })

  it.each([
    ['limited', 'rate_limit', 429, 7_000, 'Try again in 7 s.'],
    ['down', 'server', 500, undefined, 'It said: "Internal error"'],
    ['big', 'overflow', 400, undefined, 'SUPERBLOOM_MODEL_CONTEXT'],
    ['locked', 'auth', 401, undefined, 'refused the key (401). Check OPENAI_API_KEY'],
  ])('throws once, in words, for a refusal: %s', async (text, kind, status, retryAfter, says) => {
    mock.clearRequests()
    const error = await failure(ask(openModel(url()), text))
    expect(error).toMatchObject({ kind, status, retryAfter })
    expect(error.message).toContain(says)
    expect(mock.getRequests()).toHaveLength(1)
  })

  it("stops slow chunks with the signal's reason", async () => {
    const stop = new AbortController()
    const reason = new Error('a person said stop')
    const shown: string[] = []
    const onText = (piece: string) => {
      shown.push(piece)
      stop.abort(reason)
    }
    await expect(openModel(url()).complete(request('slow'), { signal: stop.signal, onText })).rejects.toBe(
      reason,
    )
    expect(shown).toEqual(['x'])
  })

  it('serves many calls at once', async () => {
    const model = openModel(url())
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) => ask(model, i % 2 ? 'text' : 'calls')),
    )
    expect(replies.map(({ reply }) => reply.calls.length)).toEqual(replies.map((_, i) => (i % 2 ? 0 : 2)))
  })
})
