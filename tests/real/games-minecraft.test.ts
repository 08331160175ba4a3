import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFakeGame } from '../../servers/games/testing/fake-game.ts'
import { createQuery } from '../../servers/games/upstreams/query.ts'
import { createPlayersWatcher } from '../../servers/games/watchers/players.ts'
import { systemClock } from '../../servers/kit/clock.ts'
import { createEventLog } from '../../servers/kit/events.ts'
import { runWatcher } from '../../servers/kit/watch.ts'
import { until } from '../support/until.ts'
import { type MinecraftServer, startMinecraft } from './setup/minecraft.ts'

const clock = systemClock
let minecraft: MinecraftServer

// The first run on a machine installs the server.
beforeAll(async () => {
  minecraft = await startMinecraft()
}, 120_000)
afterAll(() => minecraft?.[Symbol.asyncDispose]())

test('a Minecraft server is asked by its own ping, in milliseconds', async () => {
  const query = createQuery({ type: 'minecraft', host: '127.0.0.1', port: minecraft.port }, { clock })
  await query.ask()
  const from = performance.now()
  expect(await query.ask()).toMatchObject({
    name: 'Lab blocks',
    version: expect.stringContaining('1.16.5'),
    players: 0,
    maxPlayers: 5,
    names: [],
  })
  expect(performance.now() - from).toBeLessThan(1500)
})

test('who joins and leaves a Minecraft server is raised', async () => {
  const query = createQuery({ type: 'minecraft', host: '127.0.0.1', port: minecraft.port }, { clock })
  const events = createEventLog('games', 'stream', clock)
  const watcher = createPlayersWatcher({
    games: { list: async () => [createFakeGame({ name: 'blocks', query })] },
    emit: events.emit,
    clock,
    log: () => undefined,
    every: 200,
  })
  await query.ask()
  using _watching = toDisposable(runWatcher(watcher, clock, () => undefined))
  const next = (type: string, count: number) =>
    until(`${type} with ${count} players`, () =>
      events.read(0).events.find(event => event.type === type && event.payload['playerCount'] === count),
    )
  minecraft.join('Ann')
  await next('player_joined', 1)
  minecraft.join('Bob')
  await next('player_joined', 2)
  minecraft.leave('Ann')
  await next('player_left', 1)
  minecraft.leave('Bob')
  await next('player_left', 0)
  const empty = await until('server_empty', () =>
    events.read(0).events.find(({ type }) => type === 'server_empty'),
  )
  expect(empty).toMatchObject({ key: 'server_empty:blocks', payload: { server: 'blocks', previousCount: 1 } })
})

function toDisposable(stop: () => void): Disposable {
  return { [Symbol.dispose]: stop }
}
