import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { type Clock, systemClock } from '../clock.ts'
import { describeError } from '../log.ts'
import { failureOf } from '../testing/failure-of.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import {
  type Answer,
  type FaultyUpstream,
  garbage,
  html,
  huge,
  ok,
  redirect,
  reset,
  slow,
  startFaultyUpstream,
  status,
} from '../testing/faulty-upstream.ts'
import { createUpstream, type UpstreamOptions } from './upstream.ts'

const KEY = 'abc/def key"1'
const settings = { url: 'RADARR_URL', key: 'RADARR_API_KEY', where: 'Radarr: Settings > General' }
/** A clock without pauses between retries, so only limits wait. */
const hasty: Clock = {
  ...systemClock,
  after: (delay, run) => systemClock.after(delay < 5000 ? 0 : delay, run),
}
const schema = z.object({ version: z.string() })

let upstream: FaultyUpstream
beforeEach(async () => {
  upstream = await startFaultyUpstream({ 'GET /base/status': ok({ version: '5' }) })
})
afterEach(() => upstream[Symbol.asyncDispose]())

function create(options: Partial<UpstreamOptions> = {}) {
  const url = `${upstream.url}/base`
  return createUpstream({
    name: 'radarr',
    title: 'Radarr',
    url,
    secrets: [KEY],
    settings,
    random: () => 0,
    clock: hasty,
    ...options,
  })
}

test('a read sends its query and headers, and gives what the schema makes of the answer', async () => {
  const radarr = create({ headers: { 'x-api-key': KEY } })
  const query = { term: 'a b', skip: undefined, id: [1, 2] }
  expect(await radarr.get('/status', { query, schema })).toEqual({ version: '5' })
  expect(upstream.requests[0]?.query.toString()).toBe('term=a+b&id=1&id=2')
  expect(upstream.requests[0]?.headers).toMatchObject({ 'x-api-key': KEY, accept: 'application/json' })
})

test.each([
  ['json', { json: { a: 1 } }, 'application/json', '{"a":1}'],
  ['form', { form: { a: 'b c' } }, 'application/x-www-form-urlencoded', 'a=b+c'],
  ['text', { text: 'hi' }, 'text/plain', 'hi'],
  ['text of a type', { text: '{}', type: 'application/x' }, 'application/x', '{}'],
])('a write sends %s', async (_what, body, type, sent) => {
  upstream.route({ 'POST /base/x': status(204) })
  expect(await create().send('POST', '/x', { body })).toBeUndefined()
  expect(upstream.requests[0]?.headers['content-type']).toContain(type)
  expect(upstream.requests[0]?.body).toBe(sent)
})

test('a write sends files', async () => {
  upstream.route({ 'POST /base/x': ok({ version: '6' }) })
  const multipart = new FormData()
  multipart.set('file', new Blob(['content']), 'a.torrent')
  expect(await create().send('POST', '/x', { body: { multipart }, schema })).toEqual({ version: '6' })
  expect(upstream.requests[0]?.body).toMatch(/filename="a.torrent".*content/s)
})

test('a write sends bytes as they are', async () => {
  upstream.route({ 'PUT /base/x': ok({ version: '6' }) })
  const body = { bytes: Uint8Array.of(65, 66), type: 'image/png' }
  expect(await create().send('PUT', '/x', { body, schema })).toEqual({ version: '6' })
  expect(upstream.requests[0]).toMatchObject({ body: 'AB', headers: { 'content-type': 'image/png' } })
})

test('the raw answer has status, headers, bytes and text, of accepted statuses too', async () => {
  upstream.next(status(409, 'busy', { 'x-session': 's1' }))
  const answer = await create().raw('POST', '/rpc', { accept: [409] })
  expect([answer.status, answer.headers.get('x-session'), answer.text(), answer.bytes.length]).toEqual([
    409,
    's1',
    'busy',
    4,
  ])
})

test.each<[string, Answer, object, RegExp]>([
  [
    '401',
    status(401, { error: 'Unauthorized' }),
    { kind: 'unauthorized', status: 401 },
    /RADARR_API_KEY \(Radarr: Settings > General\)/,
  ],
  ['403', status(403, 'API Key Incorrect'), { kind: 'forbidden' }, /"API Key Incorrect"/],
  ['404', status(404, { message: 'NotFound' }), { kind: 'not_found' }, /path in RADARR_URL/],
  ['422', status(422, { errors: { title: ['too long'] } }), { kind: 'refused' }, /422: "too long"/],
  [
    '400 of Radarr',
    status(400, [{ propertyName: 'Path', errorMessage: 'Path is taken' }]),
    { kind: 'refused' },
    /"Path is taken"/,
  ],
  ['500', status(500, '<html>'), { kind: 'server_error', transient: true }, /it answered 500\n/],
  [
    '429 for long',
    status(429, '', { 'retry-after': '60' }),
    { kind: 'rate_limited', retryAfter: 60_000 },
    /Wait 60 s/,
  ],
  ['a web page', html, { kind: 'not_json' }, /a web page/],
  ['garbage', garbage, { kind: 'not_json' }, /"\}\{ +not json"/],
  ['another shape', ok({ version: 5 }), { kind: 'unexpected' }, /version: .*expected string/],
  ['nothing', status(200, ''), { kind: 'unexpected' }, /the answer: /],
  ['too much', huge, { kind: 'too_large' }, /longer than 10 MiB/],
  [
    'a redirect with the path',
    redirect('https://nas/new/base/status?key=1'),
    { kind: 'redirect' },
    /Set RADARR_URL to https:\/\/nas\/new\/base\b/,
  ],
  ['a redirect to a login', redirect('/login'), { kind: 'redirect' }, /may ask for a login/],
])('%s is a failure that says what to do, and is not tried again', async (_what, answer, facts, words) => {
  upstream.will(answer)
  const failure = await failureOf(create().get('/status', { schema, query: { apikey: KEY } }))
  expect(failure).toMatchObject(facts)
  expect(Object.values(failure.failure).join('\n')).toMatch(words)
  expect(failure.failure.where).toBe(`GET ${upstream.url}/base/status`)
  expect(upstream.requests).toHaveLength(1)
})

test.each([
  ['a broken connection', reset],
  ['502', status(502)],
  ['503', status(503)],
  ['504', status(504)],
  ['429 for a moment', status(429, '', { 'retry-after': '0.01' })],
])('a read is tried again after %s, with a growing pause', async (_what, answer) => {
  upstream.next(answer, answer)
  expect(await create().get('/status', { schema })).toEqual({ version: '5' })
  upstream.next(answer, answer, answer)
  await failureOf(create().get('/status', { schema }))
  expect(upstream.requests).toHaveLength(6)
})

test('a write is never tried again, a POST that only reads is', async () => {
  upstream.will(status(503))
  await failureOf(create().send('POST', '/x'))
  expect(upstream.requests).toHaveLength(1)
  await failureOf(create().send('POST', '/x', { read: true }))
  expect(upstream.requests).toHaveLength(4)
})

test('one that does not answer is given up after the limit, which holds for the retries too', async () => {
  const clock = createFakeClock()
  upstream.will(slow)
  const asked = upstream.nextRequest()
  const failing = failureOf(create({ clock, limit: 3000 }).get('/status', { schema }))
  await asked
  await clock.advance(3000)
  expect(await failing).toMatchObject({
    kind: 'timeout',
    failure: { what: 'Radarr did not answer within 3 s.' },
  })
  expect(clock.pending).toBe(0)
  expect(upstream.requests).toHaveLength(1)
})

test('cancelled by the caller it throws the reason, asking and waiting for the next try', async () => {
  upstream.will(slow)
  const asking = new AbortController()
  const asked = upstream.nextRequest()
  const first = create().get('/status', { schema, signal: asking.signal })
  await asked
  asking.abort(new Error('enough'))
  await expect(first).rejects.toThrow('enough')

  const clock = createFakeClock()
  upstream.will(status(503))
  const waiting = new AbortController()
  const timers = clock.nextTimer().then(() => clock.nextTimer())
  const second = create({ clock }).get('/status', { schema, signal: waiting.signal })
  await timers
  waiting.abort(new Error('no more'))
  await expect(second).rejects.toThrow('no more')
  expect(clock.pending).toBe(0)
})

test('one that is down is said with its address, its cause and its setting', async () => {
  await upstream[Symbol.asyncDispose]()
  const { failure, kind, unsent } = await failureOf(create().get('/status', { schema }))
  expect(kind).toBe('unreachable')
  expect(unsent).toBe(true)
  expect(failure.what).toBe(`Radarr could not be reached at ${upstream.url}/base.`)
  expect(failure.why).toMatch(/nothing listens at 127.0.0.1:\d+ \(ECONNREFUSED\)/)
  expect(failure.fix).toMatch(/RADARR_URL/)
})

test.each([
  ['ENOTFOUND', /name nas:1 could not be resolved/, 3],
  ['SELF_SIGNED_CERT_IN_CHAIN', /NODE_EXTRA_CA_CERTS/, 1],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /try http:\/\//, 1],
  ['EHOSTUNREACH', /\(EHOSTUNREACH\)/, 3],
])('%s is told apart', async (code, words, tries) => {
  let asked = 0
  const failing = async () => {
    asked++
    throw Object.assign(new Error(KEY), { code })
  }
  const error = await failureOf(create({ url: 'https://nas:1', exchange: failing }).get('/', { schema }))
  expect(Object.values(error.failure).join('\n')).toMatch(words)
  expect(describeError(error)).not.toContain(KEY)
  expect(asked).toBe(tries)
})

test('TLS where none is spoken is said as such', async () => {
  const secure = upstream.url.replace('http:', 'https:')
  const plain = await failureOf(create({ url: secure }).get('/', { schema }))
  expect(plain.failure.fix).toMatch(/try http:\/\//)
})

test('a secret is shown nowhere, not even where the upstream repeats it', async () => {
  upstream.will(status(400, { message: `bad ${KEY} or ${encodeURIComponent(KEY)} or tok3n` }))
  const url = `${upstream.url}/${encodeURIComponent(KEY)}`
  const radarr = create({ url, headers: { authorization: 'Bearer tok3n' } })
  expect(radarr.address).toBe(`${upstream.url}/***`)
  const { failure } = await failureOf(radarr.send('POST', '/x', { query: { token: KEY } }))
  expect(failure.why).toBe('it answered 400: "bad *** or *** or ***"')
  expect(JSON.stringify(failure)).not.toMatch(/abc|tok3n/)
})
