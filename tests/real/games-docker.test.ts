import { dirname } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { games } from '../../servers/games/server.ts'
import { type FakeQuake3, startFakeQuake3 } from '../../servers/games/testing/fake-quake3.ts'
import { systemClock } from '../../servers/kit/clock.ts'
import { type ServerWorld, startWorld } from '../../servers/kit/testing/server-world.ts'
import { until } from '../support/until.ts'
import { IMAGE } from './setup/busybox.ts'
import { type Dockerd, startDockerd } from './setup/dockerd.ts'

/* The containers are real; their game is a shell script, and a Quake 3 server of ours reports the players. */

let dockerd: Dockerd
let quake3: FakeQuake3
let world: ServerWorld
let environment: Record<string, string>

beforeAll(async () => {
  dockerd = await startDockerd()
})
afterAll(() => dockerd?.[Symbol.asyncDispose]())

beforeEach(async () => {
  quake3 = await startFakeQuake3()
  environment = {
    SUPERBLOOM_DATA: dirname(dockerd.socket),
    ENGINE_URL: dockerd.socket,
    GAMES_PASSWORD_Q3: quake3.password,
    GAMES_SERVERS: JSON.stringify({ declared: { docker: 'declared', startSeconds: 10, stopSeconds: 1 } }),
  }
  world = await startWorld(games, { clock: systemClock, environment })
})
afterEach(async () => {
  await world[Symbol.asyncDispose]()
  await quake3[Symbol.asyncDispose]()
  const all = (await dockerd.docker('ps', '-aq')).split('\n').filter(id => id !== '')
  if (all.length > 0) await dockerd.docker('rm', '-f', ...all)
})

const labels = () => [
  '--label=superbloom.game=q3',
  '--label=superbloom.game.title=Friday arena',
  `--label=superbloom.game.query=q3a:${quake3.port}`,
  `--label=superbloom.game.console=quake3:${quake3.port}`,
  '--label=superbloom.game.commands=status, say *',
  '--label=superbloom.game.start-seconds=20',
  '--label=superbloom.game.stop-seconds=1',
]
/** Runs `docker create`, for a game that exists but is not started. */
const create = (name: string, options: readonly string[], script: string) =>
  dockerd.docker('create', '--network=host', `--name=${name}`, ...options, IMAGE, 'sh', '-c', script)
const GAME = 'echo "game is up"; trap "exit 0" TERM; while :; do sleep 0.1; done'
const crashes = () =>
  world.events().filter(({ type, payload }) => type === 'server_crash' && payload['server'] !== 'probe')

test('a labelled container is a game server at once, and no longer when it is removed', async () => {
  expect((await world.call('list_game_servers')).text).toContain('1 game server:\ndeclared: not there')
  await create('arena', labels(), GAME)
  const listed = await world.call('list_game_servers')
  expect(listed.text).toContain('q3 ("Friday arena"): stopped')
  await dockerd.docker('rm', 'arena')
  expect((await world.call('list_game_servers')).data).toMatchObject({ total: 1 })
})

test('labels that cannot be read are told, and cost only what they set', async () => {
  await create('arena', ['--label=superbloom.game=q3', '--label=superbloom.game.query=q3a'], GAME)
  await create('odd', ['--label=superbloom.game=no name'], GAME)
  const { data } = await world.call('list_game_servers')
  expect(data).toMatchObject({ servers: [{ server: 'declared' }, { server: 'q3', state: 'stopped' }] })
  expect(data['problems']).toEqual([
    'container arena: the label superbloom.game.query is "q3a", but it must be TYPE:PORT or TYPE:HOST:PORT, such as q3a:27960',
    'container odd: the label superbloom.game is "no name", but it must be a name of letters, digits and . _ -',
  ])
})

test('start waits until the game answers; a second start does nothing and says so', async () => {
  quake3.answers = false
  await create('arena', labels(), GAME)
  const starting = world.call('start_game_server', { server: 'Q3' })
  await until('it runs', async () => (await dockerd.docker('ps', '-q')) !== '')
  quake3.answers = true
  quake3.players = [{ name: 'Ann', ping: 20 }]
  const started = await starting
  expect(started.data).toMatchObject({ server: 'q3', started: true, answers: true, players: 1 })
  expect(started.progress.length).toBeGreaterThan(0)
  const again = await world.call('start_game_server', { server: 'q3' })
  expect(again.text).toContain('q3 runs already; nothing was done. It answers: 1 of 8 players: "Ann"')
  expect((await world.call('get_game_server', { server: 'q3' })).text).toMatch(
    /^q3 \("Friday arena"\): running.*CPU [\d.]+ % of a core, memory [\d.]+ [KM]iB.*"Lab Q3", map "aggressor".*Allowed console commands: "status", "say \*"/s,
  )
  expect((await world.call('get_game_server_logs', { server: 'q3' })).text).toContain('game is up')
})

test('a start that ends at once tells exit code and last lines', async () => {
  await untilHeard()
  await create('declared', [], 'echo "port is taken"; exit 3')
  const failed = await world.call('start_game_server', { server: 'declared' })
  expect(failed.isError).toBe(true)
  expect(failed.text).toMatch(/^declared ended .* after its start/)
  expect(failed.text).toContain('exit code 3; its last lines: "port is taken"')
  await until('the crash is told', () => crashes().length > 0)
  expect(crashes()).toMatchObject([
    { key: 'server_crash:declared', payload: { server: 'declared', exitCode: 3 } },
  ])
})

test('stop refuses while somebody plays; confirmed it warns, stops, and that is no crash', async () => {
  await untilHeard()
  await dockerd.run('arena', labels(), 'sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done')
  quake3.players = [
    { name: 'Ann', ping: 20 },
    { name: 'Bob', ping: 30 },
  ]
  const refused = await world.call('stop_game_server', { server: 'q3' })
  expect(refused.data).toMatchObject({ done: false, stopped: false })
  expect(refused.text).toContain('Nothing was done. It would stop q3 with 2 players online.')
  expect(refused.text).toContain('2 of 8 players: "Ann", "Bob"')
  expect(await dockerd.docker('ps', '-q')).not.toBe('')
  const stopped = await world.call('stop_game_server', { server: 'q3', confirm: true, warnSeconds: 1 })
  expect(stopped.data).toMatchObject({ done: true, stopped: true, players: 2, warned: true })
  expect(quake3.commands).toEqual([expect.stringContaining('This server will stop in 1 second.')])
  expect(await dockerd.docker('ps', '-q')).toBe('')
  const again = await world.call('stop_game_server', { server: 'q3' })
  expect(again.text).toBe('q3 was not stopped: it is stopped already.')
  await untilHeard()
  expect(crashes()).toEqual([])
})

test('one that ends with code 1 when it is stopped was stopped, also for a server that starts later', async () => {
  await untilHeard()
  const script = 'echo "game is up"; trap "exit 1" TERM; while :; do sleep 0.1; done'
  await dockerd.run('declared', [], 'sh', '-c', script)
  await until('it is up', async () => (await dockerd.docker('logs', 'declared')).includes('game is up'))
  const stopped = await world.call('stop_game_server', { server: 'declared' })
  expect(stopped.data).toMatchObject({ done: true, stopped: true })
  for (let start = 0; start < 2; start++) {
    expect((await world.call('list_game_servers')).text).toMatch(/declared: stopped just now/)
    const { text } = await world.call('diagnose_game_server', { server: 'declared' })
    expect(text).toContain('It is stopped.')
    expect(text).not.toContain('crashed')
    await untilHeard()
    expect(crashes()).toEqual([])
    await world[Symbol.asyncDispose]()
    world = await startWorld(games, { clock: systemClock, environment })
  }
  // A container that ends like this without a request has crashed.
  await dockerd.docker('start', 'declared')
  await dockerd.docker('exec', 'declared', 'kill', '-TERM', '1')
  await until('it has failed', async () =>
    (await world.call('list_game_servers')).text.includes('declared: failed'),
  )
})

test('restart starts a new life of the container, which is no crash', async () => {
  await untilHeard()
  await dockerd.run('arena', labels(), 'sh', '-c', GAME)
  const before = await dockerd.docker('inspect', '-f', '{{.State.StartedAt}}', 'arena')
  const { data } = await world.call('restart_game_server', { server: 'q3' })
  expect(data).toMatchObject({ done: true, restarted: true, answers: true, players: 0 })
  expect(await dockerd.docker('inspect', '-f', '{{.State.StartedAt}}', 'arena')).not.toBe(before)
  await untilHeard()
  expect(crashes()).toEqual([])
})

test('a crash is told once each, with exit code and memory; ends that somebody asked for are not', async () => {
  await untilHeard()
  await dockerd.run('arena', labels(), 'sh', '-c', 'exit 7')
  await until('the crash is told', () => crashes().length === 1)
  await dockerd.docker('rm', 'arena')
  await dockerd.run('declared', [], 'sh', '-c', 'exit 0')
  await until('it ended', async () => (await dockerd.docker('ps', '-q')) === '')
  await dockerd.docker('rm', 'declared')
  for (const verb of ['stop', 'kill']) {
    await dockerd.run(
      'declared',
      ['--stop-timeout=1'],
      'sh',
      '-c',
      'trap "" TERM; while :; do sleep 0.1; done',
    )
    await dockerd.docker(verb, 'declared')
    await dockerd.docker('rm', 'declared')
  }
  await dockerd.run('declared', ['--memory=20m'], 'sh', '-c', 'sleep 0.3; tail /dev/zero')
  await until('the second crash is told', () => crashes().length === 2)
  expect(crashes()).toMatchObject([
    { key: 'server_crash:q3', payload: { server: 'q3', exitCode: 7 } },
    { key: 'server_crash:declared', payload: { server: 'declared', exitCode: 137, oom: true } },
  ])
  const details = await world.call('get_game_server', { server: 'declared' })
  expect(details.text).toMatch(/^declared: failed .* \(it ran out of memory, exit code 137\)/)
})

/**
 * Waits until the server has received all earlier events of the engine: a crash of another game comes after
 * them. Probes repeat because the first may come before the server listens.
 */
async function untilHeard(): Promise<void> {
  const probes = () => world.events().filter(({ payload }) => payload['server'] === 'probe').length
  const before = probes()
  await until('a crash of the probe is told', async () => {
    await dockerd
      .docker('run', '--rm', '--network=host', '--label=superbloom.game=probe', IMAGE, 'sh', '-c', 'exit 9')
      .catch(() => undefined)
    return probes() > before
  })
}
