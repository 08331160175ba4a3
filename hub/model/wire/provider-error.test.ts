import { describe, expect, it } from 'vitest'
import type { ModelErrorKind } from '../../core/model.ts'
import { toModelError, toRefusal } from './provider-error.ts'

const provider = {
  baseUrl: 'http://user:pass@gpu.lan:8000/v1/?key=hidden',
  apiKey: 'sk-secret',
  model: 'qwen3',
}

const KINDS: [
  what: string,
  status: number | undefined,
  error: unknown,
  kind: ModelErrorKind,
  says: string,
][] = [
  ['401', 401, {}, 'auth', 'refused the key (401). Check OPENAI_API_KEY'],
  ['403', 403, {}, 'auth', 'refused the key (403)'],
  [
    '400 of Google for a wrong key',
    400,
    { code: 400, status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] },
    'auth',
    'refused the key (400)',
  ],
  ['402', 402, {}, 'rejected', 'credit'],
  ['404', 404, { code: 'model_not_found' }, 'rejected', '(404 model_not_found). Check OPENAI_BASE_URL'],
  ['405', 405, {}, 'rejected', 'OPENAI_BASE_URL'],
  ['408', 408, {}, 'server', 'failed (408)'],
  ['409', 409, {}, 'rejected', 'refused the request (409)'],
  ['413', 413, {}, 'overflow', 'longer than the model "qwen3"'],
  ['429', 429, {}, 'rate_limit', 'takes no more requests for now (429)'],
  ['429 for lack of credit', 429, { code: 'insufficient_quota' }, 'rate_limit', 'quota is used up'],
  ['500', 500, {}, 'server', 'failed (500)'],
  ['503', 503, {}, 'server', 'failed (503)'],
  ['400', 400, { message: 'no' }, 'rejected', 'It said: "no"'],
  [
    '400 overflow of OpenAI',
    400,
    { code: 'context_length_exceeded' },
    'overflow',
    'SUPERBLOOM_MODEL_CONTEXT',
  ],
  ['400 overflow of llama.cpp', 400, { code: 400, type: 'exceed_context_size_error' }, 'overflow', 'longer'],
  ['400 that only speaks of it', 400, { message: 'context_length_exceeded' }, 'rejected', 'refused'],
  ['500 with that code', 500, { code: 'context_length_exceeded' }, 'server', 'failed'],
  ['a body of text', 404, 'model "x" not found', 'rejected', 'It said: "model "x" not found"'],
  ['FastAPI', 422, { detail: 'missing field' }, 'rejected', 'It said: "missing field"'],
  ['an event with a status for code', undefined, { code: 429, message: 'slow' }, 'rate_limit', '(429)'],
  ['an event with a status as text', undefined, { code: '502' }, 'server', '(502 502)'],
  ['an event with a status', undefined, { status: 401, code: 'nope' }, 'auth', '(401 nope)'],
  ['an event with a code', undefined, { code: 'rate_limit_exceeded' }, 'rate_limit', 'no more requests'],
  ['an overflow event', undefined, { code: 'context_length_exceeded' }, 'overflow', 'longer'],
  ['any other event', undefined, { type: 'server_error', message: 'oops' }, 'server', 'It said: "oops"'],
  ['an event of text', undefined, 'model runner crashed', 'server', 'It said: "model runner crashed"'],
  ['an event of nothing', undefined, null, 'server', 'failed.'],
]

describe('toRefusal and toModelError', () => {
  it.each(KINDS)('%s', (_, status, error, kind, says) => {
    const thrown = toModelError(provider, toRefusal(error, status))
    expect(thrown).toMatchObject({ name: 'ModelError', kind })
    expect(thrown.message).toContain(says)
    expect(thrown.message).toContain('http://gpu.lan:8000/v1')
    expect(thrown.message).not.toMatch(/user|pass|hidden|sk-secret/)
  })

  it.each([
    ['OpenAI', { param: 'tools[1].name', code: 'c' }, { param: 'tools[1].name', code: 'c' }],
    [
      'Mistral',
      { detail: [{ type: 'extra_forbidden', loc: ['body', 'top_k'], msg: 'Extra inputs' }] },
      { param: 'top_k', code: 'extra_forbidden', said: 'Extra inputs' },
    ],
    [
      'Google',
      { code: 400, details: [{ fieldViolations: [{ field: 'generation_config.top_k' }] }] },
      { param: 'generation_config.top_k' },
    ],
    [
      'OpenRouter',
      { message: 'Provider returned error', metadata: { raw: '{"error":{"param":"x","message":"no x"}}' } },
      { param: 'x', said: 'Provider returned error: no x' },
    ],
    ['OpenRouter, in words', { message: 'failed', metadata: { raw: 'no x' } }, { said: 'failed: no x' }],
  ])('names what %s blames', (_, error, expected) => {
    expect(toModelError(provider, toRefusal(error, 400)).refusal).toMatchObject({ status: 400, ...expected })
  })

  it('takes an unreadable call for a failure that passes', () => {
    expect(toRefusal({ code: 'tool_use_failed' }, 400)).toMatchObject({ kind: 'server' })
  })

  it('tells who asks for tools that no host of the model has to choose another model', () => {
    const error = {
      message: 'No endpoints found that support tool use. To learn more, visit our docs.',
      code: 404,
    }
    const { message } = toModelError(provider, toRefusal(error, 404))
    expect(message).toContain('Choose a model that calls tools.')
    expect(message).not.toContain('OPENAI_BASE_URL')
  })

  it('names the variable of the provider', () => {
    const anthropic = { ...provider, provider: 'anthropic' }
    expect(toModelError(anthropic, toRefusal({}, 401)).message).toContain('Check ANTHROPIC_API_KEY')
    expect(toModelError(anthropic, toRefusal({}, 404)).message).toContain('Check baseUrl of the model')
  })

  it('hides the key that a provider quotes', () => {
    const error = { message: 'Incorrect API key provided: sk-secret.\u001b[31m' }
    expect(toModelError(provider, toRefusal(error, 401)).message).toContain('provided: [key].[31m"')
  })

  it('asks for a key where there is none', () => {
    expect(toModelError({ ...provider, apiKey: '' }, toRefusal({}, 401)).message).toContain(
      'Set OPENAI_API_KEY',
    )
  })

  it('says when to try again', () => {
    const error = toModelError(provider, toRefusal({}, 429), { retryAfter: 30_000 })
    expect(error).toMatchObject({ status: 429, retryAfter: 30_000, retryable: true })
    expect(error.message).toContain('Try again in 30 s.')
  })

  it('cuts long words', () => {
    const error = toModelError(provider, toRefusal({ message: 'x'.repeat(10_000) }, 400))
    expect(error.message.length).toBeLessThan(500)
  })

  it('says that the address is none', () => {
    expect(toModelError({ ...provider, baseUrl: 'gpu' }, toRefusal({}, 500)).message).toContain(
      'OPENAI_BASE_URL',
    )
  })
})
