import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { games } from '../../servers/games/server.ts'
import { createQuery, type QuerySettings } from '../../servers/games/upstreams/query.ts'
import { systemClock } from '../../servers/kit/clock.ts'
import { type ServerWorld, startWorld } from '../../servers/kit/testing/server-world.ts'
import { until } from '../support/until.ts'
import { RCON_PASSWORD, toIoquake3Command } from './setup/ioquake3.ts'
import { freePort } from './setup/scratch.ts'

/*
 * The whole games server with a real ioquake3, which it starts and stops as a process. Bots count as people
 * if the settings say so, and are told apart otherwise.
 */

let home: string
let world: ServerWorld
let query: QuerySettings

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'superbloom-games-quake3-'))
  const port = await freePort()
  query = { type: 'q3a', host: '127.0.0.1', port }
  const console = { kind: 'quake3', port, password: RCON_PASSWORD }
  const nothing = { command: '/bin/true', args: [] }
  const servers = {
    lab: {
      process: { ...toIoquake3Command(home, port), cwd: home },
      query: { ...query, countBots: true },
      console,
      commands: ['status', 'addbot *', 'kick *', 'cvarlist', 'rconpassword', 'set fraglimit *'],
      startSeconds: 20,
    },
    stranger: { process: nothing, console: { ...console, password: 'not-this-one' }, commands: ['status'] },
    off: { process: nothing, query: { type: 'q3a', port: await freePort() } },
  }
  world = await startWorld(games, {
    clock: systemClock,
    environment: {
      GAMES_SERVERS: JSON.stringify(servers),
      GAMES_DISCOVER: 'false',
      GAMES_PLAYERS_INTERVAL: '2s',
    },
  })
  const { isError, text } = await world.call('start_game_server', { server: 'lab' })
  expect(isError, text).toBe(false)
}, 60_000)
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
})

const run = (command: string, server = 'lab') => world.call('run_game_command', { server, command })
/**
 * Repeats the command: the game drops more than ten requests at once, and then more than one a second, from
 * one address.
 */
const surely = (command: string) => until(command, async () => !(await run(command)).isError)
const nextEvent = (type: string) =>
  until(type, () => world.events().find(event => event.type === type && event.payload['server'] === 'lab'))

test('rcon answers, in one packet and in many, and shows its password nowhere', async () => {
  const status = await run('status')
  expect(status.text).toContain('lab ran "status" and printed:')
  expect(String(status.data['answer'])).toMatch(/^map: aggressor/)
  const variables = await run('cvarlist')
  expect(String(variables.data['answer'])).toMatch(/\d+ total cvars/)
  expect(String(variables.data['answer']).length).toBeGreaterThan(4000)
  const password = await run('rconpassword')
  expect(password.data['answer']).toMatch(/rconPassword.*\*\*\*/)
  expect(JSON.stringify([status, variables, password])).not.toContain(RCON_PASSWORD)
  expect((await run('set fraglimit 25')).text).toBe('lab ran "set fraglimit 25" and printed nothing.')
})

test('a wrong rcon password is told by the game', async () => {
  const { isError, text } = await run('status', 'stranger')
  expect(isError).toBe(true)
  expect(text).toContain('did not accept the password')
  expect(text).not.toContain('not-this-one')
})

test('what is not allowed is not run', async () => {
  expect((await run('quit')).text).toContain('none of those that are allowed')
  expect((await run('status; quit')).text).toContain('semicolon')
  expect((await run('status')).isError).toBe(false)
})

test('who comes and goes is counted, named and raised; the last one to go leaves it empty', async () => {
  const empty = await world.call('get_player_count', { server: 'lab' })
  expect(empty.text).toContain('0 players of at most 8 on lab')
  await surely('addbot sarge 1')
  const joined = await nextEvent('player_joined')
  expect(joined).toMatchObject({
    key: 'player_joined:lab',
    payload: { playerCount: 1, names: [expect.any(String)] },
  })
  const [name] = joined.payload['names'] as string[]
  const one = await world.call('get_player_count', { server: 'lab' })
  expect(one.text).toContain(`1 player of at most 8 on lab: "${name}"`)
  const people = await createQuery(query, { clock: systemClock }).ask()
  expect(people).toMatchObject({ players: 0, bots: 1, names: [] })

  await surely('kick allbots')
  expect(await nextEvent('player_left')).toMatchObject({ payload: { playerCount: 0, names: [name] } })
  expect(await nextEvent('server_empty')).toMatchObject({
    key: 'server_empty:lab',
    payload: { server: 'lab', previousCount: 1 },
  })
})

test('a diagnosis says that it is well, and that one that was never started is not', async () => {
  const well = await world.call('diagnose_game_server', { server: 'lab' })
  expect(well.data).toMatchObject({
    verdict: expect.stringMatching(/ok|trouble/),
    seen: { players: 0, maxPlayers: 8, pingMs: expect.any(Number), memoryBytes: expect.any(Number) },
    notSeen: [],
  })
  const off = await world.call('diagnose_game_server', { server: 'off' })
  expect(off.data).toMatchObject({ verdict: 'down' })
})

test('a game that ended has no players, and raises nothing of players', async () => {
  const before = world.events().length
  const stopped = await world.call('stop_game_server', { server: 'lab', confirm: true })
  expect(stopped.isError, stopped.text).toBe(false)
  const count = await world.call('get_player_count', { server: 'lab' })
  expect(count.text).toBe('0 players on lab: it does not run.')
  expect((await world.call('diagnose_game_server', { server: 'lab' })).data).toMatchObject({
    verdict: 'down',
  })
  const silent = await run('status')
  expect(silent.text).toMatch(/nothing listens there|no answer within/)
  expect(world.events()).toHaveLength(before)
})
