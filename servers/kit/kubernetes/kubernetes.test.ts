import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../clock.ts'
import { toFailureText } from '../failure.ts'
import { failureOf } from '../testing/failure-of.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import {
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
import { openCluster } from './kubernetes.ts'

const TOKEN = 'secret-token-1'
const QUAKE = { kind: 'deployment', namespace: 'games', name: 'quake' } as const
const pod = (name: string) => ({
  metadata: { name, namespace: 'games' },
  spec: { containers: [{ name: 'server' }, { name: 'log' }] },
  status: { phase: 'Running' },
})

let upstream: FaultyUpstream
let folder: string
let kubeconfig: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cluster-'))
  kubeconfig = join(folder, 'config')
  upstream = await startFaultyUpstream({
    'GET /k8s/version': ok({ gitVersion: 'v1.33.1+k3s1' }),
    'GET /k8s/api/v1/namespaces/games/pods/quake-1': ok(pod('quake-1')),
  })
  write({ server: `${upstream.url}/k8s`, 'insecure-skip-tls-verify': true })
})
afterEach(async () => {
  await upstream[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

function write(cluster: object, user: object = { token: TOKEN }): void {
  const config = {
    clusters: [{ name: 'lab', cluster }],
    users: [{ name: 'me', user }],
    contexts: [{ name: 'home', context: { cluster: 'lab', user: 'me' } }],
    'current-context': 'home',
  }
  writeFileSync(kubeconfig, JSON.stringify(config))
}
const open = (clock = systemClock) => openCluster({ name: 'kubernetes', kubeconfig, clock })

test('asks with the token, below the path of the server', async () => {
  const cluster = open()
  expect(cluster.address).toBe(kubeconfig)
  expect(await cluster.version()).toBe('Kubernetes 1.33.1+k3s1')
  expect(cluster.address).toBe(`${upstream.url}/k8s`)
  expect(upstream.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`)
})

test('a list in several parts is one', async () => {
  upstream.route({
    'GET /k8s/api/v1/pods': ({ query }) =>
      query.get('continue') === 'more'
        ? ok({ metadata: { continue: '' }, items: [pod('b')] })
        : ok({ metadata: { continue: 'more' }, items: [pod('a')] }),
  })
  const found = await open().pods({ selector: 'app in (quake, doom)' })
  expect(found.map(({ name }) => name)).toEqual(['a', 'b'])
  expect(upstream.requests.map(({ query }) => query.get('labelSelector'))).toEqual(
    Array(2).fill('app in (quake, doom)'),
  )
})

test('figures where there is a metrics API', async () => {
  const usage = { cpu: '500m', memory: '1Mi' }
  upstream.route({
    'GET /k8s/apis/metrics.k8s.io/v1beta1/namespaces/games/pods': ok({
      items: [{ metadata: { name: 'a', namespace: 'games' }, containers: [{ usage }] }],
    }),
  })
  expect((await open().use('games'))?.get('games/a')).toEqual({ cpuPercent: 50, memoryBytes: 1_048_576 })
  expect(await open().use(undefined)).toBeUndefined()
})

test('logs of the first of several containers', async () => {
  upstream.route({
    'GET /k8s/api/v1/namespaces/games/pods/quake-1/log': status(200, 'one\r\ntwo\nthree'),
  })
  const lines = await open().logs({ namespace: 'games', name: 'quake-1' }, { tail: 3 })
  expect(lines).toEqual(['one', 'two', 'three'])
  expect(upstream.requests.at(-1)?.query.toString()).toBe('tailLines=3&container=server')
})

test('changes are patches', async () => {
  const path = '/k8s/apis/apps/v1/namespaces/games/deployments/quake'
  upstream.route({ [`PATCH ${path}/scale`]: ok({}), [`PATCH ${path}`]: ok({}) })
  const clock = { ...systemClock, now: () => 1_795_324_214_000 }
  await open(clock).scale(QUAKE, 0)
  await open(clock).restart(QUAKE)
  const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-11-22T05:10:14.000Z' }
  expect(upstream.requests.map(({ body }) => JSON.parse(body))).toEqual([
    { spec: { replicas: 0 } },
    { spec: { template: { metadata: { annotations } } } },
  ])
  expect(upstream.requests[0]?.headers['content-type']).toBe('application/merge-patch+json')
})

test('a name cannot leave its place in the path', async () => {
  expect(await open().workload({ ...QUAKE, name: '../../x?y' })).toBeUndefined()
  expect(upstream.requests[0]?.path).toBe('/k8s/apis/apps/v1/namespaces/games/deployments/..%2F..%2Fx%3Fy')
})

const refusal = (code: number, message: string) => status(code, { kind: 'Status', message, code })
const forbidden =
  'deployments.apps "quake" is forbidden: User "system:serviceaccount:hub:default" cannot patch resource "deployments/scale" in API group "apps" in the namespace "games"'

test.each([
  ['401', refusal(401, 'Unauthorized'), 'unauthorized', 'get a new kubeconfig'],
  [
    '403',
    refusal(403, forbidden),
    'forbidden',
    'verb "patch" on "deployments/scale" of the API group "apps"',
  ],
  ['403 of a proxy', status(403, 'no'), 'forbidden', 'a role that allows it'],
  ['404', refusal(404, 'deployments.apps "quake" not found'), 'not_found', 'the namespace'],
  ['409', refusal(409, 'the object has been modified'), 'refused', 'has been modified'],
  ['422', refusal(422, 'spec.replicas: must be non-negative'), 'refused', 'must be non-negative'],
  ['429', refusal(429, 'slow down'), 'rate_limited', 'slow down'],
  ['500', refusal(500, 'etcdserver: request timed out'), 'server_error', 'etcdserver'],
  ['a redirect', redirect('http://elsewhere.example/login'), 'redirect', 'answered 302'],
  ['a reset', reset, 'unreachable', 'ECONNRESET'],
])('%s', async (_what, answer, kind, words) => {
  upstream.will(answer)
  const failure = await failureOf(open().scale(QUAKE, 0))
  expect(failure.kind).toBe(kind)
  const text = toFailureText(failure.failure)
  expect(text).toContain(words)
  expect(text).not.toContain(TOKEN)
  expect(upstream.requests).toHaveLength(1)
})

test.each([
  ['garbage', garbage, 'not_json'],
  ['a page', html, 'not_json'],
  ['another shape', ok({ message: 'hi' }), 'unexpected'],
  ['too much', huge, 'too_large'],
])('%s instead of an answer', async (_what, answer, kind) => {
  upstream.will(answer)
  expect((await failureOf(open().pods({}))).kind).toBe(kind)
})

test('nothing is waited for longer than its limit; who asked may give up before', async () => {
  upstream.will(slow)
  const clock = createFakeClock()
  const waiting = failureOf(open(clock).pods({}))
  await upstream.nextRequest()
  await clock.advance(15_000)
  expect((await waiting).kind).toBe('timeout')

  const ending = new AbortController()
  const given = expect(open().pods({}, ending.signal)).rejects.toThrow('never mind')
  await upstream.nextRequest()
  ending.abort(new Error('never mind'))
  await given
})

test('a cluster that is down', async () => {
  await upstream[Symbol.asyncDispose]()
  const failure = await failureOf(open().pods({}))
  expect(toFailureText(failure.failure)).toMatch(
    /could not be reached.*\n.*\n.*nothing listens at 127\.0\.0\.1/,
  )
})

test('a kubeconfig that is not there, that is none, and that names no server', async () => {
  rmSync(kubeconfig)
  expect((await failureOf(open().pods({}))).failure).toMatchObject({
    where: kubeconfig,
    why: expect.stringContaining('ENOENT'),
  })
  writeFileSync(kubeconfig, 'just: [text')
  expect((await failureOf(open().pods({}))).failure.what).toContain('cannot be used')
  write({})
  expect((await failureOf(open().pods({}))).failure.why).toMatch(/names no cluster|server/)
})

test('it is opened anew after its kubeconfig was put right', async () => {
  rmSync(kubeconfig)
  const cluster = open()
  await failureOf(cluster.version())
  write({ server: `${upstream.url}/k8s`, 'insecure-skip-tls-verify': true })
  expect(await cluster.version()).toBe('Kubernetes 1.33.1+k3s1')
})

test('plain HTTP must be allowed, and a program that logs in must be there', async () => {
  write({ server: upstream.url })
  expect((await failureOf(open().version())).failure.why).toContain('HTTP protocol is not allowed')
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: join(folder, 'no-such-program') }
  write({ server: upstream.url, 'insecure-skip-tls-verify': true }, { exec })
  const failure = await failureOf(open().version())
  expect(failure.kind).toBe('unauthorized')
  expect(failure.failure.fix).toContain('the user of the kubeconfig')
})

const login = (status: object) => ({
  apiVersion: 'client.authentication.k8s.io/v1',
  command: process.execPath,
  args: ['-e', 'fs.appendFileSync(process.env.RUNS, "x"); console.log(process.env.SAID)'],
  env: [
    { name: 'RUNS', value: join(folder, 'runs') },
    { name: 'SAID', value: JSON.stringify({ status }) },
  ],
})

test.each([
  ['a token', () => ({ token: 'one' }), { authorization: 'Bearer one' }],
  ['a file with the token', () => ({ tokenFile: 'token' }), { authorization: 'Bearer from-file' }],
  [
    'a name and a password',
    () => ({ username: 'ann', password: 'pass' }),
    { authorization: 'Basic YW5uOnBhc3M=' },
  ],
  ['a program', () => ({ exec: login({ token: 'ran' }) }), { authorization: 'Bearer ran' }],
  ['another user', () => ({ token: 'one', as: 'bob' }), { 'impersonate-user': 'bob' }],
  ['nothing', () => ({}), {}],
])('a user logs in with %s', async (_what, user, headers) => {
  writeFileSync(join(folder, 'token'), 'from-file\n')
  write({ server: `${upstream.url}/k8s`, 'insecure-skip-tls-verify': true }, user())
  await open().version()
  expect(upstream.requests[0]?.headers).toMatchObject(headers)
  if (!('authorization' in headers)) {
    expect(upstream.requests[0]?.headers.authorization).toBe(
      'impersonate-user' in headers ? 'Bearer one' : undefined,
    )
  }
})

test.each([
  ['once while its token holds', '2999-01-01T00:00:00Z', 'x'],
  ['again once its token has run out', '2000-01-01T00:00:00Z', 'xx'],
])('the program of a user runs %s', async (_what, expirationTimestamp, runs) => {
  const exec = login({ token: 'ran', expirationTimestamp })
  write({ server: `${upstream.url}/k8s`, 'insecure-skip-tls-verify': true }, { exec })
  const cluster = open()
  await cluster.version()
  await cluster.version()
  expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe(runs)
})

test('a user of an auth-provider is told to use a program', async () => {
  write({ server: upstream.url }, { 'auth-provider': { name: 'gcp' } })
  expect((await failureOf(open().version())).failure.why).toContain('auth-provider "gcp"')
})

test('several kubeconfigs are one', async () => {
  const other = join(folder, 'other')
  const contexts = [{ name: 'second', context: { cluster: 'lab', user: 'me' } }]
  writeFileSync(other, JSON.stringify({ clusters: [], users: [], contexts }))
  const options = { name: 'second', kubeconfig: `${kubeconfig}:${other}`, context: 'second' }
  expect(await openCluster({ ...options, clock: systemClock }).version()).toContain('1.33.1')
})

test('a name never leads out of its place in the address', async () => {
  const odd = { namespace: 'a/../b', name: '../secrets?x=1#y' }
  upstream.will(ok({}))
  await open().deletePod(odd)
  await open().scale({ kind: 'deployment', ...odd }, 0)
  const paths = upstream.requests.map(({ path }) => path)
  expect(paths).toEqual([
    '/k8s/api/v1/namespaces/a%2F..%2Fb/pods/..%2Fsecrets%3Fx%3D1%23y',
    '/k8s/apis/apps/v1/namespaces/a%2F..%2Fb/deployments/..%2Fsecrets%3Fx%3D1%23y/scale',
  ])
})
