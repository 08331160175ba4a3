import { expect, test } from 'vitest'
import { systemClock } from '../../core/clock.ts'
import { createLog } from '../../core/log.ts'
import { Authorization } from './authorization.ts'
import type { Credentials } from './credentials.ts'
import { headersOf, letFetchIn } from './let-in.ts'

const URL_OF_IT = 'https://example.org/mcp'
const KEPT: Credentials = {
  url: URL_OF_IT,
  client: { client_id: 'me', issuer: 'https://people.example' },
  tokens: { access_token: 'the-token', token_type: 'Bearer', issuer: 'https://people.example' },
}

const authorization = new Authorization(
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
)

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
