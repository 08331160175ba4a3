import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../servers/kit/clock.ts'
import { type ServerWorld, startWorld } from '../../servers/kit/testing/server-world.ts'
import { metrics } from '../../servers/metrics/server.ts'
import { until } from '../support/until.ts'
import { type Dockerd, startDockerd } from './setup/dockerd.ts'

/** A real Docker with containers that are healthy, unhealthy, out of memory and busy. */
let dockerd: Dockerd
let world: ServerWorld

const SERVE = 'trap "exit 0" TERM; echo begins; while :; do sleep 0.1; done'

beforeAll(async () => {
  dockerd = await startDockerd()
  const environment = { ENGINE_URL: `unix://${dockerd.socket}` }
  world = await startWorld(metrics, { clock: systemClock, environment })
  await Promise.all([
    dockerd.run('well', ['--label', 'com.docker.compose.service=web', '--memory', '64m'], 'sh', '-c', SERVE),
    dockerd.run('busy', [], 'sh', '-c', 'while :; do :; done'),
    dockerd.run('failed', [], 'sh', '-c', 'exit 3'),
    dockerd.run(
      'chatty',
      [],
      'sh',
      '-c',
      'for i in 1 2 3 4; do echo line $i; done; echo ERROR: no disk; sleep 100',
    ),
  ])
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await dockerd?.[Symbol.asyncDispose]()
})

interface Shown {
  name: string
  state: string
  health?: string
  problem?: string
  cpuPercent?: number
  memoryBytes?: number
  memoryLimitBytes?: number
}
const status = async (args = {}) => {
  const called = await world.call('get_container_status', args)
  return { ...called, containers: called.data['containers'] as Shown[] }
}
const unhealthy = () => world.events().filter(({ type }) => type === 'container_unhealthy')

test('every container is told, with what it uses', async () => {
  await until('failed ended', async () =>
    (await status({ container: 'failed', use: false })).text.includes('code 3'),
  )
  const { containers, text, untrusted } = await status()
  expect(containers.map(({ name }) => name)).toEqual(['busy', 'chatty', 'failed', 'well'])
  expect(containers).toMatchObject([
    { state: 'running', cpuPercent: expect.any(Number) },
    { state: 'running' },
    { state: 'exited', exitCode: 3, problem: 'ended with code 3' },
    { state: 'running', memoryLimitBytes: 64 * 2 ** 20 },
  ])
  expect(containers[0]?.cpuPercent).toBeGreaterThan(5)
  expect(containers[3]?.memoryBytes).toBeGreaterThan(10_000)
  expect(containers[3]?.memoryBytes).toBeLessThan(64 * 2 ** 20)
  expect(text).toMatch(/^4 containers, 3 running, 1 with a problem\.$/m)
  expect(text).toMatch(/^- "well" \(engine\): running, up .*, CPU .* of a core, memory .* of 64 MiB\.$/m)
  expect(untrusted).toBe(true)
  await dockerd.docker('rm', '-f', 'busy')
})

test('one by its name, its Compose service or its problem', async () => {
  expect((await status({ container: 'WEB' })).containers.map(({ name }) => name)).toEqual(['well'])
  expect((await status({ unhealthy: true })).containers.map(({ name }) => name)).toEqual(['failed'])
  const none = await status({ container: 'wel' })
  expect(none.text).toMatch(/no container or pod called "wel"[\s\S]*there is "well" \(engine\)/)
})

test('logs, and a word in them', async () => {
  const logs = await world.call('get_container_logs', { container: 'chatty', lines: 2 })
  expect(logs.data).toMatchObject({ count: 2, lines: 'line 4\nERROR: no disk' })
  expect(logs).toMatchObject({
    untrusted: true,
    text: expect.stringContaining('```\nline 4\nERROR: no disk\n```'),
  })
  const errors = await world.call('get_container_logs', { container: 'chatty', contains: 'error' })
  expect(errors.data).toMatchObject({ count: 1, found: 1, lines: 'ERROR: no disk' })
  const none = await world.call('get_container_logs', { container: 'chatty', contains: 'panic' })
  expect(none.text).toContain('wrote no line with "panic"')
})

test('a restart, and one that would surprise only after a yes', async () => {
  const before = await dockerd.docker('inspect', '-f', '{{.State.StartedAt}}', 'well')
  const restarted = await world.call('restart_container', { container: 'well', grace: 2 })
  expect(restarted).toMatchObject({ isError: false, data: { done: true, state: 'running' } })
  expect(await dockerd.docker('inspect', '-f', '{{.State.StartedAt}}', 'well')).not.toBe(before)

  const asked = await world.call('restart_container', { container: 'failed' })
  expect(asked).toMatchObject({ data: { done: false } })
  expect(asked.text).toContain('It would start "failed", which does not run now (exited)')
  expect((await status({ container: 'failed', use: false })).containers).toMatchObject([{ state: 'exited' }])
})

test('an unhealthy container is raised at once, once, and again after it was well', async () => {
  const check = [
    '--health-cmd',
    'test "$(cat /state)" = well',
    '--health-interval',
    '2s',
    '--health-retries',
    '1',
  ]
  await dockerd.run('patient', check, 'sh', '-c', `echo well > /state; ${SERVE}`)
  const be = (state: string) => dockerd.docker('exec', 'patient', 'sh', '-c', `echo ${state} > /state`)
  const raised = (count: number) =>
    until(`it is raised ${count} times`, () => unhealthy().filter(isPatient).length === count)
  const isTold = (health: string) =>
    until(`it is ${health}`, async () => {
      const { containers } = await status({ container: 'patient', use: false })
      return containers[0]?.health === health
    })
  await isTold('healthy')
  await be('ill')
  await raised(1)
  expect(unhealthy().find(isPatient)).toMatchObject({
    key: 'container_unhealthy:engine:patient',
    payload: { name: 'patient', status: 'unhealthy', restarts: 0 },
  })
  expect((await status({ container: 'patient', use: false })).text).toContain('PROBLEM: "unhealthy"')
  await be('well')
  await isTold('healthy')
  expect(unhealthy().filter(isPatient)).toHaveLength(1)
  await be('ill')
  await raised(2)
})

const isPatient = ({ payload }: { payload: Record<string, unknown> }) => payload['name'] === 'patient'

test('a container that restarts again and again is raised', async () => {
  await dockerd.run('crashing', ['--restart', 'always'], 'sh', '-c', 'exit 1')
  const event = await until('it is raised', () =>
    unhealthy().find(({ payload }) => payload['name'] === 'crashing'),
  )
  expect(event.payload).toMatchObject({ status: 'restart loop', restarts: expect.any(Number) })
  expect(Number(event.payload['restarts'])).toBeGreaterThanOrEqual(3)
})

test('a Docker that is down is said so by every tool', async () => {
  const environment = { ENGINE_URL: 'unix:///nowhere/docker.sock' }
  await using alone = await startWorld(metrics, { clock: systemClock, environment, watchers: false })
  for (const name of ['get_container_status', 'get_container_logs', 'restart_container']) {
    const { isError, text } = await alone.call(
      name,
      name === 'get_container_status' ? {} : { container: 'x' },
    )
    expect(isError).toBe(true)
    expect(text).toContain('/nowhere/docker.sock')
  }
})
