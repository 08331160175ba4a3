import { afterAll, beforeAll, expect, test } from 'vitest'
import { games } from '../../servers/games/server.ts'
import { systemClock } from '../../servers/kit/clock.ts'
import { type ServerWorld, startWorld } from '../../servers/kit/testing/server-world.ts'
import { until } from '../support/until.ts'
import { type Podman, startPodman } from './setup/podman.ts'

/* Podman differs from Docker: its events contain no signals, and no lack of memory. */

let podman: Podman
let world: ServerWorld

beforeAll(async () => {
  podman = await startPodman()
  const environment = { ENGINE_PODMAN_URL: podman.socket }
  world = await startWorld(games, { clock: systemClock, environment })
}, 60_000)
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await podman?.[Symbol.asyncDispose]()
}, 60_000)

const run = (name: string, script: string) =>
  podman.run(
    name,
    [`--label=superbloom.game=${name}`, '--label=superbloom.game.stop-seconds=1'],
    'sh',
    '-c',
    script,
  )
const DEAF = 'trap "" TERM; echo up; while :; do sleep 0.1; done'
const crashed = () =>
  world
    .events()
    .filter(({ type, payload }) => type === 'server_crash' && payload['server'] !== 'probe')
    .map(({ payload }) => payload)

/** Waits until the server has received all earlier events: a probe's crash comes after them. */
async function untilHeard(): Promise<void> {
  const probes = () => world.events().filter(({ payload }) => payload['server'] === 'probe').length
  const before = probes()
  await until('a crash of the probe is told', async () => {
    await run('probe', 'exit 9')
    await podman.podman('wait', 'probe')
    const heard = await until('it is told', () => probes() > before, { within: 1000 }).catch(() => false)
    await podman.podman('rm', '--force', 'probe')
    return heard
  })
}

test('a container is started, stopped and restarted; its crash is told, and no end that was asked for', async () => {
  await untilHeard()
  await run('arena', DEAF)
  const stopped = await world.call('stop_game_server', { server: 'arena' })
  expect(stopped.data).toMatchObject({ done: true, stopped: true })
  const started = await world.call('start_game_server', { server: 'arena' })
  expect(started.data).toMatchObject({ started: true })
  expect((await world.call('start_game_server', { server: 'arena' })).text).toContain('runs already')
  expect((await world.call('restart_game_server', { server: 'arena' })).data).toMatchObject({
    restarted: true,
  })
  expect((await world.call('get_game_server_logs', { server: 'arena' })).text).toContain('up')
  expect((await world.call('get_game_server', { server: 'arena' })).data).toMatchObject({
    state: 'running',
    use: { memoryBytes: expect.any(Number) },
  })
  await podman.podman('stop', '--time=1', 'arena')
  await run('broken', 'exit 7')
  await until('the crash is told', () => crashed().length > 0)
  await untilHeard()
  expect(crashed()).toMatchObject([{ server: 'broken', exitCode: 7 }])
}, 120_000)
