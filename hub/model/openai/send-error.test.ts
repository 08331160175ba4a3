import { describe, expect, it } from 'vitest'
import { describeError } from '../../core/errors.ts'
import { toSendError } from './send-error.ts'

const provider = { baseUrl: 'http://gpu.lan:8000/v1', apiKey: 'sk-secret', model: 'qwen3' }
const thrown = (message: string, fields: object) => Object.assign(new Error(message), fields)

describe('toSendError', () => {
  it('finds the code of a broken connection in the causes', () => {
    const refused = thrown('connect ECONNREFUSED 10.0.0.9:8000', { code: 'ECONNREFUSED' })
    const error = toSendError(
      provider,
      new Error('Connection error.', { cause: new Error('x', { cause: refused }) }),
      0,
    )
    expect(error).toMatchObject({ kind: 'network', status: undefined, cause: refused })
    expect(describeError(error)).toBe(
      'The provider at http://gpu.lan:8000/v1 cannot be reached (ECONNREFUSED). Check that it runs and that ' +
        'OPENAI_BASE_URL is right.: connect ECONNREFUSED 10.0.0.9:8000',
    )
  })

  it.each([
    ['a header that cannot be sent', new TypeError('"Bearer sk-secret\n" is an invalid header value.')],
    ['an address that is none', thrown('Invalid URL', { code: 'ERR_INVALID_URL', input: 'sk-secret' })],
    ['what is no error', 'sk-secret'],
  ])('quotes nothing of %s', (_, value) => {
    const error = toSendError(provider, value, 0)
    expect(error.kind).toBe('rejected')
    expect(describeError(error)).not.toContain('sk-secret')
    expect(error.message).toContain('OPENAI_API_KEY')
  })

  it.each([
    ['502 Bad Gateway', 'It said: "Bad Gateway"'],
    ['502 <html>nginx</html>', 'later.'],
    ['502 status code (no body)', 'later.'],
  ])('takes the words of the body without JSON %j', (message, end) => {
    expect(toSendError(provider, thrown(message, { status: 502 }), 0).message.endsWith(end)).toBe(true)
  })

  it('reads Retry-After', () => {
    const headers = new Headers({ 'retry-after': '3' })
    expect(toSendError(provider, thrown('503', { status: 503, error: {}, headers }), 0)).toMatchObject({
      kind: 'server',
      status: 503,
      retryAfter: 3_000,
    })
  })
})
