import { expect, it } from 'vitest'
import { ask, delta, failure, HELLO, openModel, serve, stream } from '../support/provider.ts'

type Events = readonly object[]

const toStream = (events: Events) =>
  events
    .map(event => `${'type' in event ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('')

const usage = { input_tokens: 12, output_tokens: 3 }
const item = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'secret' }

/** Events that may come before the error. */
const START: Record<string, Events> = {
  anthropic: [
    { type: 'message_start', message: { id: 'm', model: 'm', role: 'assistant', content: [], usage } },
  ],
  openai: [
    { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
    { type: 'response.output_item.added', output_index: 0, item },
  ],
  google: [{ candidates: [{ content: { parts: [{ thought: true, text: 'so' }], role: 'model' } }] }],
  mistral: [delta({ content: '' })],
  deepseek: [delta({ content: '' })],
  compatible: [delta({ content: '' })],
}
const anthropicError = (type: string) => ({ type: 'error', error: { type, message: 'no' } })
const openaiError = (code: string) => ({ type: 'error', sequence_number: 1, code, message: 'no' })
const failed = (code: string) => ({
  type: 'response.failed',
  sequence_number: 1,
  response: { error: { code, message: 'no' } },
})
const typed = (type: string) => ({ type, message: 'no', param: null, code: null })
const googleError = (code: number) => ({ error: { code, message: 'no', status: 'INVALID_ARGUMENT' } })

it.each<[provider: string, error: object, expected: object]>([
  ['anthropic', anthropicError('invalid_request_error'), { kind: 'rejected', status: 400 }],
  ['anthropic', anthropicError('overloaded_error'), { kind: 'server' }],
  ['anthropic', anthropicError('authentication_error'), { kind: 'auth', status: 401 }],
  ['anthropic', anthropicError('request_too_large'), { kind: 'overflow' }],
  ['openai', openaiError('invalid_prompt'), { kind: 'rejected', status: 400 }],
  [
    'openai',
    { ...openaiError(''), error: { ...typed('invalid_request_error'), param: 'temperature' } },
    { kind: 'rejected', refusal: { status: 400, param: 'temperature' } },
  ],
  ['openai', openaiError('server_error'), { kind: 'server' }],
  ['openai', failed('invalid_prompt'), { kind: 'rejected', status: 400 }],
  ['openai', failed('rate_limit_exceeded'), { kind: 'rate_limit' }],
  ['openai', failed('context_length_exceeded'), { kind: 'overflow' }],
  [
    'mistral',
    { object: 'error', ...typed('invalid_request_error') },
    { kind: 'rejected', status: 400, refusal: { said: 'no' } },
  ],
  ['mistral', { object: 'error', ...typed('server_error') }, { kind: 'server' }],
  ['deepseek', { error: typed('invalid_request_error') }, { kind: 'rejected', status: 400 }],
  ['deepseek', { error: typed('authentication_error') }, { kind: 'auth' }],
  ['deepseek', { error: typed('server_error') }, { kind: 'server' }],
  ['google', googleError(400), { kind: 'rejected', status: 400, refusal: { said: 'no' } }],
  ['google', googleError(503), { kind: 'server' }],
  ['compatible', { error: typed('invalid_request_error') }, { kind: 'rejected', status: 400 }],
])('an error of %s within a stream is what it would be alone: %o', async (provider, error, expected) => {
  for (const before of [[], START[provider] ?? []]) {
    await using server = await serve(stream(toStream([...before, error])))
    const thrown = await failure(ask(openModel(server.url, { provider, model: 'm' }), 'hi'))
    expect(thrown).toMatchObject(expected)
    expect(thrown.message).toContain('It said: "no"')
  }
})

it('a request that is refused within the stream is repaired', async () => {
  const refused = { object: 'error', ...typed('invalid_request_error'), param: 'temperature' }
  await using server = await serve((response, body, call) =>
    stream(body.includes('"temperature"') ? toStream([refused]) : HELLO)(response, body, call),
  )
  const model = openModel(server.url, { provider: 'mistral', model: 'm', temperature: 0.3 })
  expect((await ask(model, 'hi')).reply.text).toBe('Hello')
})
