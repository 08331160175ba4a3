import { describe, expect, it } from 'vitest'
import { type Dialect, decideDialect, firstDialect } from './dialect.ts'
import { toRefusal } from './provider-error.ts'

const first: Dialect = { usage: true, limit: 'max_tokens' }
const newer: Dialect = { usage: true, limit: 'max_completion_tokens' }
const bare: Dialect = { usage: false, limit: 'max_tokens' }

const DECISIONS: [
  what: string,
  dialect: Dialect,
  status: number,
  error: object,
  next: Dialect | undefined,
][] = [
  ['a 400 that says nothing', first, 400, { message: 'bad' }, bare],
  ['a 422 about stream_options', first, 422, { param: 'stream_options.include_usage' }, bare],
  ['a 400 once usage is gone', bare, 400, { message: 'bad' }, undefined],
  ['a 400 about another part', first, 400, { param: 'messages', code: 'invalid_value' }, undefined],
  ['max_tokens unsupported', first, 400, { param: 'max_tokens', code: 'unsupported_parameter' }, newer],
  [
    'max_completion_tokens unknown',
    newer,
    400,
    { param: 'max_completion_tokens', code: 'unknown_parameter' },
    first,
  ],
  ['max_tokens too large', first, 400, { param: 'max_tokens', code: 'invalid_value' }, undefined],
  ['overflow', first, 400, { code: 'context_length_exceeded' }, undefined],
  ['a 401', first, 401, {}, undefined],
  ['a 500', first, 500, {}, undefined],
]

describe('decideDialect', () => {
  it.each(DECISIONS)('after %s', (_, dialect, status, error, next) => {
    expect(decideDialect(dialect, toRefusal(error, status))).toEqual(next)
  })
})

describe('firstDialect', () => {
  it.each([
    ['https://api.openai.com/v1', newer],
    ['http://localhost:11434/v1', first],
    ['no address', first],
  ])('for %s', (baseUrl, dialect) => {
    expect(firstDialect(baseUrl)).toEqual(dialect)
  })
})
