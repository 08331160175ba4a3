import { expect, test } from 'vitest'
import { ToolFailure } from '../kit/failure.ts'
import { createFakeClock } from '../kit/testing/fake-clock.ts'
import { createFakeEngine, fakeContainer } from '../kit/testing/fake-engine.ts'
import { readGamesSettings } from './config.ts'
import { createGames } from './games.ts'
import { openRequestedStops } from './requested-ends.ts'
import { startFakeQuake3 } from './testing/fake-quake3.ts'

async function open(servers = {}, environment = {}, engines = [createFakeEngine()]) {
  const settings = await readGamesSettings({ GAMES_SERVERS: JSON.stringify({ servers }), ...environment })
  const games = createGames({
    clock: createFakeClock(),
    settings,
    engines: () => engines,
    env: {},
    stops: openRequestedStops(undefined, () => undefined),
    cluster: () => {
      throw new Error('no cluster is asked here')
    },
  })
  const [docker = createFakeEngine()] = engines
  return { games, docker }
}
const DOWN = new ToolFailure({
  what: 'Docker could not be reached.',
  where: 'sock',
  why: 'there is no such socket',
  fix: 'Start it.',
})
const label = (name: string, more: Record<string, string> = {}) => ({ 'superbloom.game': name, ...more })

test('labels set what the config can set', async () => {
  const { games, docker } = await open({}, { GAMES_PASSWORD_ARENA: 'pw', GAMES_HOST: 'nas' })
  const labels = label('arena', {
    'superbloom.game.title': 'Friday arena',
    'superbloom.game.query': 'q3a:10.0.0.7:27960',
    'superbloom.game.console': 'quake3:27960',
    'superbloom.game.commands': 'status, say *',
    'superbloom.game.access': 'change',
    'superbloom.game.start-seconds': '60',
    'superbloom.game.stop-seconds': '5',
  })
  docker.hold(fakeContainer('box', { labels }))
  expect(await games.list()).toMatchObject([
    {
      name: 'arena',
      title: 'Friday arena',
      backend: { kind: 'docker', where: 'container box' },
      query: { where: 'q3a at 10.0.0.7:27960' },
      console: { kind: 'quake3' },
      commands: ['status', 'say *'],
      access: 'change',
      startSeconds: 60,
      stopSeconds: 5,
    },
  ])
})

test('a label makes bots count as players', async () => {
  await using quake = await startFakeQuake3()
  quake.players = [{ name: 'Sarge', ping: 0 }]
  const { games, docker } = await open()
  for (const [value, players] of [
    ['true', 1],
    ['false', 0],
  ] as const) {
    const labels = { 'superbloom.game.query': `q3a:${quake.port}`, 'superbloom.game.count-bots': value }
    docker.hold(fakeContainer('box', { labels: label('arena', labels) }))
    expect(await (await games.pick('arena')).query?.ask()).toMatchObject({ players })
  }
})

test('wrong labels are told one by one, and a console without a password too', async () => {
  const { games, docker } = await open()
  const labels = label('arena', {
    'superbloom.game.query': 'q3a',
    'superbloom.game.console': 'quake3:27960',
    'superbloom.game.count-bots': 'some',
    'superbloom.game.access': 'all',
    'superbloom.game.start-seconds': 'soon',
  })
  docker.hold(fakeContainer('box', { labels }), fakeContainer('odd', { labels: label('no name') }))
  const { games: found, problems } = await games.find()
  expect(found).toMatchObject([{ name: 'arena', query: undefined, console: undefined, startSeconds: 120 }])
  expect(problems).toHaveLength(6)
  expect(problems[2]).toContain('with the password in GAMES_PASSWORD_ARENA')
})

test('the config wins over a label, a running container over a stopped one, and the second is told', async () => {
  const { games, docker } = await open({ taken: { docker: 'mine' } })
  docker.hold(
    fakeContainer('a-old', { labels: label('arena'), state: 'exited' }),
    fakeContainer('b-new', { labels: label('arena') }),
    fakeContainer('other', { labels: label('taken') }),
  )
  const { games: found, problems } = await games.find()
  expect(found.map(({ name, backend }) => [name, backend.where])).toEqual([
    ['taken', 'container mine'],
    ['arena', 'container b-new'],
  ])
  expect(problems).toEqual(['2 containers have the label superbloom.game=arena; b-new is used'])
})

test('a game stays the same object while its labels do, and is gone with its container', async () => {
  const { games, docker } = await open()
  docker.hold(fakeContainer('box', { labels: label('arena') }))
  const first = await games.pick('arena')
  expect(await games.pick('ARENA')).toBe(first)
  docker.hold(fakeContainer('box', { labels: label('arena', { 'superbloom.game.title': 'New' }) }))
  expect(await games.pick('new')).not.toBe(first)
  docker.hold()
  expect(await games.list()).toEqual([])
})

test('an engine that is down is told, and hides no declared game', async () => {
  const { games, docker } = await open({ a: { docker: 'a' } })
  docker.fail(DOWN)
  const { games: found, problems } = await games.find()
  expect(found.map(({ name }) => name)).toEqual(['a'])
  expect(problems).toEqual(['Docker could not be reached. there is no such socket'])
})

test('without discovery no engine is asked', async () => {
  const { games, docker } = await open({}, { GAMES_DISCOVER: 'false' })
  docker.fail(DOWN)
  expect(await games.find()).toEqual({ games: [], problems: [] })
})

test('an unknown name is answered with those that are there, and nothing configured with what to set', async () => {
  const { games } = await open({ a: { docker: 'a' }, b: { docker: 'b', title: 'Bee' } })
  expect((await games.pick('bee')).name).toBe('b')
  await expect(games.pick('c')).rejects.toMatchObject({
    failure: { what: 'There is no game server "c".', why: 'there are only a, b' },
  })
  const { games: none } = await open()
  await expect(none.pick('c')).rejects.toMatchObject({
    failure: { what: 'No game server is configured here.', where: 'GAMES_CONFIG, GAMES_SERVERS' },
  })
})

test('a container leads to its game, by engine and name, also when it is gone since the last look', async () => {
  const podman = createFakeEngine('podman')
  const { games, docker } = await open(
    { a: { docker: 'same' }, b: { docker: { container: 'same', engine: 'podman' } } },
    {},
    [createFakeEngine(), podman],
  )
  docker.hold(fakeContainer('box', { labels: label('arena') }))
  await games.list()
  docker.hold()
  const of = async (engine: string, name: string) =>
    (await games.ofContainer(engine, { id: `${name}-id`, name }))?.name
  expect(await of('docker', 'same')).toBe('a')
  expect(await of('podman', 'same')).toBe('b')
  expect(await of('docker', 'box')).toBe('arena')
  expect(await of('docker', 'unknown')).toBeUndefined()
  expect(games.engineOf(await games.pick('b'))).toBe('podman')
})

test('an engine that is not here fails the call, not the start', async () => {
  const { games } = await open({ a: { docker: { container: 'c', engine: 'nas' } } })
  const { backend } = await games.pick('a')
  await expect(backend.state()).rejects.toMatchObject({ failure: { where: 'ENGINE_NAS_URL' } })
  const { games: alone } = await open({ a: { docker: 'c' } }, {}, [])
  await expect((await alone.pick('a')).backend.state()).rejects.toMatchObject({
    failure: { what: 'No container engine was found here.' },
  })
})
