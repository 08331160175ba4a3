import { expect, test } from 'vitest'
import { describeError, ERRORS, HubError, toPublicError } from './errors.ts'

test('an edge shows a HubError as it is, and nothing of any other', () => {
  expect(toPublicError(new HubError('too_large', 'over 1 MiB'))).toEqual({
    code: 'too_large',
    message: 'over 1 MiB',
    status: 413,
  })
  for (const thrown of [new Error('/home/alex/secret'), 'secret', undefined]) {
    expect(toPublicError(thrown)).toMatchObject({ code: 'internal', status: 500 })
    expect(toPublicError(thrown).message).not.toContain('secret')
  }
})

test('every code has a status of HTTP', () => {
  for (const [code, status] of Object.entries(ERRORS)) {
    expect([code, status >= 400 && status < 600]).toEqual([code, true])
  }
})

/** An `AggregateError` has this message when Node finds that an address refuses on every family. */
const NOTHING = ''

test('any thrown value is described with its causes', () => {
  const refused = new AggregateError(
    [new Error('connect ECONNREFUSED ::1:1'), new Error('connect ECONNREFUSED 127.0.0.1:1')],
    NOTHING,
  )
  expect(describeError(new Error('fetch failed', { cause: refused }))).toBe(
    'fetch failed: connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1',
  )
  expect(describeError(new AggregateError([], 'all failed'))).toBe('all failed')
  expect(describeError(new TypeError(NOTHING))).toBe('TypeError')
  const login = new TypeError('cannot be constructed from http://user:p4ss@host/mcp?a=1')
  expect(describeError(new Error('failed', { cause: login }))).toBe(
    'failed: cannot be constructed from http://***@host/mcp?a=1',
  )
  expect(describeError(new Error('It is down.', { cause: new Error('no way there') }))).toBe(
    'It is down. Cause: no way there',
  )
  expect([describeError('text'), describeError(undefined)]).toEqual(['text', 'undefined'])
})
