import { afterAll, beforeAll, expect, test } from 'vitest'
import { games } from '../../servers/games/server.ts'
import { systemClock } from '../../servers/kit/clock.ts'
import { type ServerWorld, startWorld } from '../../servers/kit/testing/server-world.ts'
import { until } from '../support/until.ts'
import { type SystemdUser, startSystemdUser } from './setup/systemd-user.ts'

/* A real systemd of a user. The journal is not available here, so it is tested with recorded answers. */

let systemd: SystemdUser
let world: ServerWorld

beforeAll(async () => {
  systemd = await startSystemdUser()
  await systemd.addService('arena', "ExecStart=/bin/sh -c 'exec sleep 1000'")
  await systemd.addService('deaf', `ExecStart=/bin/sh -c 'trap "" TERM; while :; do sleep 0.1; done'`)
  await systemd.addService('broken', "ExecStart=/bin/sh -c 'exit 3'")
  await systemd.addService('java', `ExecStart=/bin/sh -c 'trap "exit 143" TERM; while :; do sleep 0.1; done'`)
  await systemd.addService('rude', `ExecStart=/bin/sh -c 'trap "exit 1" TERM; while :; do sleep 0.1; done'`)
  const unit = (name: string, more = {}) => ({
    [name]: { systemd: { unit: `${name}.service`, user: true }, stopSeconds: 1, ...more },
  })
  const servers = {
    ...unit('arena'),
    ...unit('deaf'),
    ...unit('broken'),
    ...unit('java'),
    ...unit('rude'),
    ...unit('none'),
  }
  const environment = {
    PATH: process.env['PATH'],
    ...systemd.env,
    GAMES_DISCOVER: 'false',
    GAMES_SERVERS: JSON.stringify(servers),
  }
  world = await startWorld(games, { clock: systemClock, environment })
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await systemd?.[Symbol.asyncDispose]()
})

const state = async (server: string) => (await world.call('get_game_server', { server })).data['state']
const crashed = () =>
  world
    .events()
    .filter(({ type }) => type === 'server_crash')
    .map(({ payload }) => payload)

test('a unit is started, found running, restarted and stopped', async () => {
  expect(await state('arena')).toBe('stopped')
  const started = await world.call('start_game_server', { server: 'arena' })
  expect(started.data).toMatchObject({ server: 'arena', started: true })
  expect((await world.call('get_game_server', { server: 'arena' })).text).toMatch(
    /^arena: running for \d+ s\.\nIt is the user unit arena\.service; started \d+ \w+ \d{4} \d\d:\d\d UTC\./,
  )
  expect((await world.call('start_game_server', { server: 'arena' })).text).toContain('runs already')
  const pid = await systemd.systemctl('show', '-P', 'MainPID', 'arena')
  expect((await world.call('restart_game_server', { server: 'arena' })).data).toMatchObject({
    restarted: true,
  })
  expect(await systemd.systemctl('show', '-P', 'MainPID', 'arena')).not.toBe(pid)
  expect((await world.call('stop_game_server', { server: 'arena' })).data).toMatchObject({ stopped: true })
  expect(await state('arena')).toBe('stopped')
}, 60_000)

test('one that ignores the stop is killed after its time, and that is neither a failure nor a crash', async () => {
  await systemd.systemctl('start', 'deaf', 'java')
  await until('they run', async () => (await state('deaf')) === 'running')
  expect((await world.call('stop_game_server', { server: 'deaf' })).data).toMatchObject({ stopped: true })
  expect(await state('deaf')).toBe('stopped')
  await systemd.systemctl('stop', 'java')
  expect(await systemd.systemctl('show', '-P', 'ActiveState', 'java')).toBe('failed')
  expect(await state('java')).toBe('stopped')
})

test('one that ends with code 1 when it is stopped was stopped, and did not crash', async () => {
  await systemd.systemctl('start', 'rude')
  await until('it runs', async () => (await state('rude')) === 'running')
  expect((await world.call('stop_game_server', { server: 'rude' })).data).toMatchObject({ stopped: true })
  expect(await systemd.systemctl('show', '-P', 'ActiveState', 'rude')).toBe('failed')
  expect((await world.call('list_game_servers')).text).toMatch(/^rude: stopped/m)
  expect((await world.call('diagnose_game_server', { server: 'rude' })).text).toContain('It is stopped.')
})

test('a unit that ends at once fails the start with its exit code, and is told once as a crash', async () => {
  const failed = await world.call('start_game_server', { server: 'broken' })
  expect(failed.isError).toBe(true)
  expect(failed.text).toContain('exit code 3')
  await until('the crash is told', () => crashed().some(({ server }) => server === 'broken'))
  expect((await world.call('list_game_servers')).text).toMatch(/^broken: failed .*\(exit code 3\)$/m)
})

test('a game that is killed from outside has crashed', async () => {
  await systemd.systemctl('start', 'arena')
  await until('it was seen running', async () => (await state('arena')) === 'running')
  await systemd.systemctl('kill', '--signal=SIGKILL', 'arena')
  await until('the crash is told', () => crashed().some(({ server }) => server === 'arena'))
  expect(crashed()).toMatchObject([
    { server: 'broken', exitCode: 3 },
    { server: 'arena', exitCode: 137 },
  ])
})

test('what systemd does not know, and a journal that is not here, are said as such', async () => {
  expect((await world.call('list_game_servers')).text).toContain(
    'none: not there: systemd knows no such unit',
  )
  const start = await world.call('start_game_server', { server: 'none' })
  expect(start.text).toContain('There is no user unit none.service.')
  expect(start.text).toContain('Unit none.service not found')
  const logs = await world.call('get_game_server_logs', { server: 'arena' })
  expect(logs.text).toContain('The log of user unit arena.service could not be read.')
})
