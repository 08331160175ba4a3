import { SdkErrorCode } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { systemClock } from '../../core/clock.ts'
import { createLog } from '../../core/log.ts'
import { toRefusal } from '../wire-errors.ts'
import { Authorization } from './authorization.ts'
import type { Credentials } from './credentials.ts'
import { headersOf, letFetchIn, letPostIn } from './let-in.ts'

const URL_OF_IT = 'https://example.org/mcp'
const KEPT: Credentials = {
  url: URL_OF_IT,
  client: { client_id: 'me', issuer: 'https://people.example' },
  tokens: { access_token: 'the-token', token_type: 'Bearer', issuer: 'https://people.example' },
}

const GIVEN: ConstructorParameters<typeof Authorization> = [
  {
    name: 'remote',
    origin: 'config',
    prefix: '',
    transport: { kind: 'http', url: URL_OF_IT, headers: {} },
  },
  {
    clock: systemClock,
    log: createLog({ level: 'error', now: systemClock.now, write: () => undefined }),
    store: { read: () => KEPT, save: () => undefined, forget: () => false },
    fetch,
  },
]
const authorization = new Authorization(...GIVEN)

test('a token is shown at the origin of its server and nowhere else', async () => {
  const seen: Record<string, string | null> = {}
  const letIn = letFetchIn(async (url, init) => {
    seen[String(url)] = new Headers(init?.headers).get('Authorization')
    return new Response()
  }, authorization)
  const urls = [
    URL_OF_IT,
    'https://example.org/messages',
    'http://example.org/mcp',
    'https://example.org:8443/mcp',
  ]
  for (const url of [...urls, 'https://evil.example/mcp']) await letIn(url)
  expect(Object.values(seen)).toEqual(['Bearer the-token', 'Bearer the-token', null, null, null])
  expect(headersOf(authorization)).toEqual({ Authorization: 'Bearer the-token' })
  expect(headersOf(undefined)).toEqual({})
})

/** An authorization that always gets new tokens. */
class Renewed extends Authorization {
  override refused(): Promise<boolean> {
    return Promise.resolve(true)
  }
}

test.each([
  ['a call that was refused is made again', undefined, 2],
  ['one that was carried out is not: its rest was refused', SdkErrorCode.ClientHttpFailedToOpenStream, 1],
])('%s', async (_what, code, times) => {
  let posts = 0
  const refusal = toRefusal({ status: 401, statusText: '', text: 'no' }, '', code)
  const refuse = () => (++posts === 1 ? Promise.reject(refusal) : Promise.resolve())
  const post = letPostIn(
    {
      post: () => ({ result: refuse(), cut: () => undefined }),
      [Symbol.dispose]: () => undefined,
    },
    new Renewed(...GIVEN),
  )
  const { result } = post.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }, () => undefined)
  await (code === undefined ? result : expect(result).rejects.toBe(refusal))
  expect(posts).toBe(times)
})
