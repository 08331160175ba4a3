import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../clock.ts'
import { toFailureText } from '../failure.ts'
import { failureOf } from '../testing/failure-of.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { ID, inspected, startFakeDocker } from '../testing/fake-docker.ts'
import { type FaultyUpstream, ok, status } from '../testing/faulty-upstream.ts'
import { listenAt } from '../testing/listen-at.ts'
import { openEngine } from './docker.ts'

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

test('names itself', async () => {
  expect(await open().version()).toBe('Docker 28.1.1')
  upstream.route({
    'GET /version': ok({ Version: '5.4.0', Components: [{ Name: 'Podman Engine', Version: '5.4.0' }] }),
  })
  expect(await open(upstream.url.replace('http:', 'tcp:')).version()).toBe('Podman 5.4.0')
})

test('a container’s details, with what is not there left out', async () => {
  expect(await open().inspect('quake')).toEqual({
    id: ID,
    name: 'quake',
    image: 'quake:3',
    labels: {},
    state: 'running',
    health: undefined,
    healthOutput: undefined,
    restarts: 2,
    exitCode: undefined,
    oom: false,
    error: undefined,
    startedAt: 1_795_324_214_105,
    finishedAt: undefined,
  })
  const ended = { Status: 'exited', ExitCode: 0, FinishedAt: '2026-11-22T05:10:15Z' }
  upstream.route({ 'GET /containers/quake/json': ok(inspected({ State: ended })) })
  expect(await open().inspect('quake')).toMatchObject({ exitCode: 0, finishedAt: 1_795_324_215_000 })
})

test.each([
  [{ Status: '' }, undefined, undefined],
  [{ Status: 'none', Log: null }, undefined, undefined],
  [
    { Status: 'unhealthy', Log: [{ Output: 'old' }, { Output: 'no such file\n' }] },
    'unhealthy',
    'no such file',
  ],
])('health %j', async (Health, health, healthOutput) => {
  upstream.route({ 'GET /containers/quake/json': ok(inspected({ State: { Health } })) })
  expect(await open().inspect('quake')).toMatchObject({ health, healthOutput })
})

test.each([
  ['configured', 'created'],
  ['stopped', 'exited'],
  ['restarting', 'restarting'],
  ['something new', 'dead'],
])('the state %s is %s', async (State, state) => {
  upstream.route({
    'GET /containers/json': ok([{ Id: ID, Names: ['/quake'], Image: 'quake:3', State, Labels: { a: 'b' } }]),
  })
  expect(await open().list({ label: 'a=b' })).toEqual([
    { id: ID, name: 'quake', image: 'quake:3', state, labels: { a: 'b' } },
  ])
  expect(upstream.requests[0]?.query.get('filters')).toBe('{"label":["a=b"]}')
})

test('304 is so already, and the grace is given on', async () => {
  upstream.route({
    'POST /containers/quake/start': status(304),
    'POST /containers/quake/stop': status(204),
    'POST /containers/quake/restart': status(204),
  })
  expect(await open().start('quake')).toBe(false)
  expect(await open().stop('quake', 90)).toBe(true)
  await open().restart('quake', 5)
  expect(upstream.requests.map(({ path, query }) => [path.split('/').at(-1), query.get('t')])).toEqual([
    ['start', null],
    ['stop', '90'],
    ['restart', '5'],
  ])
})

test('a name cannot leave its place in the path', async () => {
  expect(await open().inspect('../images/json?all=1#')).toBeUndefined()
  expect(upstream.requests[0]?.path).toBe('/containers/..%2Fimages%2Fjson%3Fall%3D1%23/json')
})

const cpu = (total_usage: number) => ({ cpu_usage: { total_usage }, system_cpu_usage: 1, online_cpus: 4 })
const docker = {
  read: '2026-11-22T05:10:15.100Z',
  preread: '2026-11-22T05:10:14.100Z',
  cpu_stats: cpu(2_500_000_000),
  precpu_stats: cpu(1_000_000_000),
}

test.each([
  ['version 1', { cache: 900, total_inactive_file: 700, inactive_file: 100 }, 300],
  ['version 2', { file: 900, inactive_file: 600 }, 400],
  ['unknown', null, 1000],
])('Docker’s figures with control groups of %s', async (_what, stats, memoryBytes) => {
  upstream.route({
    'GET /containers/quake/stats': ok({ ...docker, memory_stats: { usage: 1000, stats, limit: 25e9 } }),
  })
  expect(await open().use('quake')).toEqual({ cpuPercent: 150, memoryBytes, memoryLimitBytes: undefined })
  upstream.route({ 'GET /containers/quake/json': ok(inspected({ HostConfig: { Memory: 5000 } })) })
  expect(await open().use('quake')).toMatchObject({ memoryLimitBytes: 5000 })
})

test('Podman’s figures take two looks', async () => {
  const clock = createFakeClock()
  const empty = { cpu_usage: { total_usage: 0 }, system_cpu_usage: 0 }
  const stats = { preread: '0001-01-01T00:00:00Z', precpu_stats: empty, memory_stats: { usage: 1000 } }
  const first = { ...stats, read: '2026-11-22T05:10:14Z', cpu_stats: cpu(1_000_000_000) }
  const second = { ...stats, read: '2026-11-22T05:10:15.250Z', cpu_stats: cpu(2_000_000_000) }
  let looks = 0
  upstream.route({ 'GET /containers/quake/stats': () => ok(looks++ === 0 ? first : second) })
  const use = open(upstream.url, clock).use('quake')
  while (looks === 0) await upstream.nextRequest()
  await clock.nextTimer()
  while (looks < 2) await clock.advance(1000)
  expect(await use).toEqual({ cpuPercent: 80, memoryBytes: 1000, memoryLimitBytes: undefined })
})

test('what does not run uses nothing, and that is said', async () => {
  const zero = { ...docker, read: '0001-01-01T00:00:00Z', cpu_stats: {}, precpu_stats: {}, memory_stats: {} }
  upstream.route({
    'GET /containers/quake/stats': ok(zero),
    'GET /containers/quake/json': ok(inspected({ State: { Status: 'exited' } })),
  })
  const failure = await failureOf(open().use('quake'))
  expect(failure.kind).toBe('refused')
  expect(toFailureText(failure.failure)).toContain('its state is "exited"')
})

test('events over a socket, in chunks that end anywhere; the end of the stream is a failure', async () => {
  const line = (Action: string) =>
    JSON.stringify({ Type: 'container', Action, Actor: { ID, Attributes: { name: 'quäke' } }, time: 5 })
  const bytes = Buffer.from(`${line('start')}\n${line('kill')}\n`)
  await using engine = await listenAt(folder, (_request, response) => {
    response.flushHeaders()
    response.write(bytes.subarray(0, 100))
    setImmediate(() => response.end(bytes.subarray(100)))
  })
  const seen: string[] = []
  let ready = 0
  const following = open(`unix://${engine.path}`).follow(
    ({ kind, name }) => void seen.push(`${kind} ${name}`),
    new AbortController().signal,
    () => void ready++,
  )
  expect((await failureOf(following)).transient).toBe(true)
  expect(seen).toEqual(['start quäke', 'kill quäke'])
  expect(ready).toBe(1)
})

test('following ends without a failure when it is told to, however long it held', async () => {
  await using engine = await listenAt(folder, (_request, response) => response.flushHeaders())
  const clock = createFakeClock()
  const ending = new AbortController()
  const ready = Promise.withResolvers<void>()
  const following = open(engine.path, clock).follow(() => undefined, ending.signal, ready.resolve)
  await ready.promise
  expect(clock.pending).toBe(0)
  await clock.advance(3_600_000)
  ending.abort()
  await following
})

test('what is no event ends the following with a failure', async () => {
  await using engine = await listenAt(folder, (_request, response) => response.end('<html>\n'))
  const failure = await failureOf(
    open(engine.path).follow(
      () => undefined,
      new AbortController().signal,
      () => undefined,
    ),
  )
  expect(failure.kind).toBe('unexpected')
})

test('logs over a socket; an answer that is torn off is a failure', async () => {
  const header = Buffer.from([1, 0, 0, 0, 0, 0, 0, 6])
  await using engine = await listenAt(folder, (request, response) => {
    if (request.url?.startsWith('/containers/quake/json')) return response.end(JSON.stringify(inspected()))
    if (request.url?.includes('tail=1&')) {
      response.writeHead(200, { 'content-length': '1000' }).write(header)
      return setImmediate(() => response.destroy())
    }
    response.write(header)
    return response.end('hello\n')
  })
  expect(await open(engine.path).logs('quake', { tail: 7 })).toEqual(['hello'])
  const failure = await failureOf(open(engine.path).logs('quake', { tail: 1, since: 5 }))
  expect(failure.kind).toBe('unreachable')
})
