import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { decideLoss, describeLoss } from './loss.ts'
import type { ServerSpec } from './server-spec.ts'

const HTTP: ServerSpec = {
  name: 'x',
  origin: 'config',
  prefix: '',
  transport: { kind: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} },
}
const STDIO: ServerSpec = { ...HTTP, transport: { kind: 'stdio', command: 'x', args: [], env: {} } }

const answered = (status: number, text: string) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `Error POSTing to endpoint: ${text}`, {
    status,
    statusText: '',
    text,
  })
const rpc = (code: number, message: string) =>
  JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })
const coded = (code: string) => Object.assign(new Error('write'), { code })

test.each([
  ['404 of the official servers', answered(404, rpc(-32_001, 'Session not found'))],
  ['404 of the Python line', answered(404, rpc(-32_600, 'Session not found'))],
  ['404 in plain words', answered(404, 'session not found')],
  ['404 without words', answered(404, '')],
  ['400 with "session"', answered(400, rpc(-32_000, 'Bad Request: No valid session ID provided'))],
  ['400 in plain words', answered(400, 'Invalid session ID')],
  [
    '400 of a server restarted with one session',
    answered(400, rpc(-32_000, 'Bad Request: Server not initialized')),
  ],
  ['−32001 in a 200', new ProtocolError(-32_001, 'Session not found')],
  ['"Not connected" of a bridge', new ProtocolError(-32_000, 'Not connected')],
  ['"Not connected"', new SdkError(SdkErrorCode.NotConnected, 'Not connected')],
  ['ECONNREFUSED', coded('ECONNREFUSED')],
  ['fetch failed', new TypeError('fetch failed', { cause: coded('ECONNREFUSED') })],
])('%s: lost', (_what, error) => {
  expect(decideLoss(error, HTTP)).toBe('lost')
})

test.each([
  ['502', answered(502, '<html>Bad Gateway</html>')],
  ['503', answered(503, '')],
  ['504 of a slow call', answered(504, '')],
  ['EPIPE', coded('EPIPE')],
  ['ECONNRESET', coded('ECONNRESET')],
  ['fetch failed', new TypeError('fetch failed', { cause: coded('ECONNRESET') })],
  ['a stream that ended', new SdkError(SdkErrorCode.ConnectionClosed, 'The stream ended without an answer')],
  ['an answer cut off', new TypeError('terminated')],
])('%s of one request: in doubt', (_what, error) => {
  expect(decideLoss(error, HTTP)).toBe('in doubt')
})

test.each([
  ['400 about the request', answered(400, rpc(-32_602, 'Invalid params: session is required'))],
  ['400 about a header', answered(400, rpc(-32_020, 'Mcp-Name does not match, session or not'))],
  ['400 in plain words', answered(400, 'Bad Request')],
  ['404 for a method that there is not', answered(404, rpc(-32_601, 'Method not found: session/new'))],
  ['401', answered(401, 'session expired')],
  ['403', answered(403, '')],
  ['429', answered(429, '')],
  ['500', answered(500, 'session store is down')],
  ['an error of the tool about its own session', new ProtocolError(-32_000, 'The browser session is busy')],
  ['−32001 for something else', new ProtocolError(-32_001, 'Request timed out')],
  ['a time limit', new SdkError(SdkErrorCode.RequestTimeout, 'Request timed out')],
  ['anything else', new Error('no')],
])('%s: not lost', (_what, error) => {
  expect(decideLoss(error, HTTP)).toBeUndefined()
})

test('over stdio there is one pipe, and a TypeError is not the network', () => {
  expect(decideLoss(new TypeError('x is not a function'), STDIO)).toBeUndefined()
  expect(decideLoss(coded('EPIPE'), STDIO)).toBe('lost')
  expect(decideLoss(new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed'), STDIO)).toBe('lost')
})

test.each<[string, unknown, string | undefined, string]>([
  [
    'its words say more than a pipe',
    new SdkError(SdkErrorCode.ConnectionClosed, 'closed'),
    'code 1',
    'code 1',
  ],
  [
    'nothing is known of its process',
    new SdkError(SdkErrorCode.ConnectionClosed, 'closed'),
    undefined,
    'closed',
  ],
  ['the hub ended it after an error', new ProtocolError(-32_603, 'no database'), 'code 0', 'no database'],
  [
    'a list that broke off with its process',
    new Error('no list', { cause: new SdkError(SdkErrorCode.ConnectionClosed, 'closed') }),
    'code 1',
    'code 1',
  ],
])('%s', (_what, error, goodbye, words) => expect(describeLoss(error, goodbye)).toBe(words))
