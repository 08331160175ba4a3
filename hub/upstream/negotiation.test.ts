import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { decideNextMode, type Mode } from './negotiation.ts'
import type { ServerSpec } from './server-spec.ts'

type Spec = Pick<ServerSpec, 'transport' | 'era'>

const HTTP: Spec = { transport: { kind: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} } }
const STDIO: Spec = { transport: { kind: 'stdio', command: 'x', args: [], env: {} } }

const HTTP_LEGACY: Spec = { ...HTTP, era: 'legacy' }

const refused = (status: number) => new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'no', { status })
const unclear = new SdkError(SdkErrorCode.EraNegotiationFailed, 'the probe got HTTP 500')
const closed = new SdkError(SdkErrorCode.ConnectionClosed, 'closed')
const noStream = new SseError(
  404,
  'Non-200 status code (404)',
  new Event('error') as ConstructorParameters<typeof SseError>[2],
)
const wrong = new ProtocolError(-32_600, 'no such version')

test.each<[string, Spec, Mode[], unknown, Mode | undefined]>([
  ['405 to the POST', HTTP, ['auto'], refused(405), 'sse'],
  ['404 to the POST', HTTP, ['auto'], refused(404), 'sse'],
  ['400 to the POST of a known legacy server', HTTP, ['legacy'], refused(400), 'sse'],
  ['neither has it', HTTP, ['auto', 'sse'], noStream, undefined],
  ['401', HTTP, ['auto'], refused(401), undefined],
  ['nobody listens', HTTP, ['auto'], new TypeError('fetch failed'), undefined],
  ['a probe that fails', HTTP, ['auto'], unclear, 'legacy'],
  ['a process that ends when probed', STDIO, ['auto'], closed, 'legacy'],
  ['a process that ends all the same', STDIO, ['auto', 'legacy'], closed, undefined],
  ['a known legacy process that ends', STDIO, ['legacy'], closed, undefined],
  ['a known legacy server that was upgraded', STDIO, ['legacy'], wrong, 'auto'],
  ['a known old server that was upgraded', HTTP, ['sse'], noStream, 'auto'],
  ['a pinned legacy server', HTTP_LEGACY, ['legacy'], wrong, undefined],
  ['a pinned legacy server of before', HTTP_LEGACY, ['legacy'], refused(405), 'sse'],
  ['a pinned modern server', { ...HTTP, era: 'modern' }, ['modern'], refused(405), undefined],
  ['a pinned modern process', { ...STDIO, era: 'modern' }, ['modern'], unclear, undefined],
  ['both again', HTTP, ['sse', 'auto'], refused(404), undefined],
])('%s', (_what, spec, tried, error, next) => {
  expect(decideNextMode(spec, tried, error)).toBe(next)
})
