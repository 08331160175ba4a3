import { existsSync, linkSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../clock.ts'
import { toFailureText } from '../failure.ts'
import { failureOf } from '../testing/failure-of.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { startFakeDocker } from '../testing/fake-docker.ts'
import {
  type FaultyUpstream,
  garbage,
  html,
  huge,
  ok,
  redirect,
  reset,
  slow,
  status,
} from '../testing/faulty-upstream.ts'
import { listenAt } from '../testing/listen-at.ts'
import { explainNetwork } from '../upstream/explain.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import { openEngine } from './docker.ts'
import { explain } from './explain.ts'

let upstream: FaultyUpstream
let folder: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'engine-'))
  upstream = await startFakeDocker()
})
afterEach(async () => {
  await upstream[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const open = (address = upstream.url, clock = systemClock) => openEngine({ name: 'docker', address, clock })

test.each([
  ['401', status(401, { message: 'no' }), 'unauthorized', 'answered 401: "no"'],
  ['403', status(403, 'Forbidden'), 'forbidden', 'POST=1'],
  ['404', status(404, { message: 'No such container: quake' }), 'not_found', 'No such container: quake'],
  ['409', status(409, { message: 'removal in progress' }), 'refused', 'removal in progress'],
  ['500', status(500, { message: 'port is already allocated' }), 'server_error', 'port is already allocated'],
  ['503', status(503, 'busy'), 'server_error', 'busy'],
  ['a redirect', redirect('http://elsewhere.example/login'), 'redirect', 'sends elsewhere'],
  ['a redirect to nowhere', redirect('gopher:x'), 'redirect', 'sends elsewhere'],
  ['a reset', reset, 'unreachable', 'ECONNRESET'],
])('%s', async (_what, answer, kind, words) => {
  upstream.will(answer)
  const failure = await failureOf(open().start('quake'))
  expect(failure.kind).toBe(kind)
  expect(toFailureText(failure.failure)).toContain(words)
  expect(failure.failure.where).toMatch(/^POST .*\/containers\/quake\/start/)
  // One request: it was not retried, and no redirect was followed.
  expect(upstream.requests).toHaveLength(1)
})

test.each([
  ['garbage', garbage, 'not_json'],
  ['a page', html, 'not_json'],
  ['another shape', ok({ message: 'hi' }), 'unexpected'],
  ['too much', huge, 'too_large'],
])('%s instead of an answer', async (_what, answer, kind) => {
  upstream.will(answer)
  expect((await failureOf(open().inspect('quake'))).kind).toBe(kind)
})

test('nothing is waited for longer than its limit; who asked may give up before', async () => {
  upstream.will(slow)
  const clock = createFakeClock()
  const waiting = failureOf(open(upstream.url, clock).list({}))
  await upstream.nextRequest()
  await clock.advance(10_000)
  expect((await waiting).kind).toBe('timeout')

  const ending = new AbortController()
  const given = open().stop('quake', 60, ending.signal)
  const rejected = expect(given).rejects.toThrow('never mind')
  await upstream.nextRequest()
  ending.abort(new Error('never mind'))
  await rejected
})

test('no socket, and one at which nothing listens', async () => {
  const missing = await failureOf(open(join(folder, 'none.sock')).list({}))
  expect(toFailureText(missing.failure)).toMatch(
    /could not be reached.*\n.*\n.*no such socket\n.*mount the socket/,
  )
  const engine = await listenAt(folder, () => undefined)
  linkSync(engine.path, join(folder, 'stale.sock'))
  await engine[Symbol.asyncDispose]()
  expect(existsSync(join(folder, 'stale.sock'))).toBe(true)
  const stale = await failureOf(open(join(folder, 'stale.sock')).list({}))
  expect(stale.failure.why).toBe('nothing listens at the socket')
})

test('a socket that this user may not use', () => {
  const failed = {
    title: 'Docker',
    address: '/var/run/docker.sock',
    method: 'GET',
    path: '/info',
    settings: {},
    redact: (text: string) => text,
  }
  const error = Object.assign(new Error('no'), { code: 'EACCES' })
  const { failure } = explainNetwork(failed, error, explain)
  expect(failure).toMatchObject({
    where: 'GET /info at /var/run/docker.sock',
    fix: expect.stringContaining('usermod -aG docker'),
  })
})

test('a host that is not there, and certificates that are not there', async () => {
  const { url } = upstream
  await upstream[Symbol.asyncDispose]()
  expect((await failureOf(open(url).list({}))).failure.why).toContain('nothing listens at 127.0.0.1')
  const certificates = join(folder, 'certs')
  const address = 'tcp://127.0.0.1:2376'
  const failure = await failureOf(
    openEngine({ name: 'nas', address, certificates, clock: systemClock }).list({}),
  )
  expect(failure.failure).toMatchObject({ where: certificates, fix: expect.stringContaining('cert.pem') })
})

test.each(['ssh://nas', 'nas', 'tcp://me:secret@nas:2375', 'npipe:////./pipe/docker', 'http://nas/?x=1'])(
  '%s is no address',
  address => {
    expect(() => open(address)).toThrow(UpstreamFailure)
  },
)

test('variables of this process do not lead elsewhere', async () => {
  await using engine = await listenAt(folder, (_request, response) =>
    response.end(JSON.stringify({ Version: '1', Components: null })),
  )
  vi.stubEnv('DOCKER_HOST', 'tcp://127.0.0.1:1')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await open(engine.path).version()).toBe('Docker 1')
})
