import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../kit/clock.ts'
import { createFakeClock } from '../kit/testing/fake-clock.ts'
import { startWorld } from '../kit/testing/server-world.ts'
import { games } from './server.ts'

const TOOLS = [
  'list_game_servers',
  'get_game_server',
  'start_game_server',
  'stop_game_server',
  'restart_game_server',
  'get_game_server_logs',
  'get_player_count',
  'run_game_command',
  'diagnose_game_server',
]
const environment = {
  GAMES_DISCOVER: 'false',
  GAMES_SERVERS: JSON.stringify({ script: { process: { command: '/bin/sleep', args: ['1000'] } } }),
}

test('read-only it offers what changes nothing', async () => {
  await using world = await startWorld(games, {
    clock: createFakeClock(),
    environment: { ...environment, GAMES_READ_ONLY: 'true' },
    watchers: false,
  })
  expect(world.listed().map(({ name }) => name)).toEqual(
    TOOLS.filter(name => !/^(start|stop|restart|run)_/.test(name)),
  )
})

test('it ends the processes that it started', async () => {
  const args = ['-c', 'echo $$; exec sleep 1000']
  const servers = { script: { process: { command: '/bin/sh', args } } }
  const settings = { GAMES_DISCOVER: 'false', GAMES_SERVERS: JSON.stringify(servers) }
  const world = await startWorld(games, { clock: systemClock, environment: settings, watchers: false })
  await world.call('start_game_server', { server: 'script' })
  const { data } = await world.call('get_game_server_logs', { server: 'script' })
  const pid = Number(data['log'])
  expect(process.kill(pid, 0)).toBe(true)
  await world[Symbol.asyncDispose]()
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

test('wrong settings end the start with all that is wrong', async () => {
  const wrong = { GAMES_SERVERS: '{"a": {"docker": "a", "titel": "A"}}' }
  await expect(startWorld(games, { clock: createFakeClock(), environment: wrong })).rejects.toThrow(
    'GAMES_SERVERS: servers.a.titel: no such key',
  )
})

test('an engine and a cluster that are not there are told in the list, by the call and in the health', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'games-'))
  const socket = join(folder, 'docker.sock')
  const servers = { box: { docker: 'box' }, pod: { kubernetes: { deployment: 'pod' } } }
  const docker = { ENGINE_URL: socket, GAMES_SERVERS: JSON.stringify(servers) }
  await using world = await startWorld(games, { clock: systemClock, environment: docker, watchers: false })
  const { data, text } = await world.call('list_game_servers')
  expect(data).toMatchObject({
    servers: [
      { server: 'box', state: 'unknown' },
      { server: 'pod', state: 'unknown' },
    ],
  })
  expect(text).toContain('Problem: ')
  const failed = await world.call('start_game_server', { server: 'box' })
  expect(failed.isError).toBe(true)
  expect(failed.text).toContain(socket)
  expect(await world.health()).toMatchObject({
    ok: false,
    upstreams: [
      { kind: 'container engine', address: socket, ok: false },
      {
        kind: 'Kubernetes cluster',
        address: 'none',
        reason: expect.stringContaining('No Kubernetes cluster is configured'),
      },
    ],
  })
  rmSync(folder, { recursive: true })
})
