import { expect, test } from 'vitest'
import { ARRIVAL, toEpisode, toTranscodingSession } from '../../../tests/lab/jellyfin.ts'
import { type MediaWorld, startMediaWorld } from '../../../tests/support/media-world.ts'
import { until } from '../../../tests/support/until.ts'

const without = ['radarr', 'sonarr', 'seerr'] as const
const NEW = '2026-11-22T03:59:00.0000000Z'
const SECOND = 1000

const of = (world: MediaWorld, type: string) => world.events().filter(event => event.type === type)
const count = (world: MediaWorld, route: string) =>
  world.jellyfin.requests.filter(request => request.route === route).length

/** Lets time pass until the next look at this route is over. */
async function lookAgain(world: MediaWorld, route: string, span: number) {
  const before = count(world, route)
  await until(`${route} is asked again`, async () => {
    await world.clock.advance(span)
    return count(world, route) > before
  })
  // The answer is read after the request was seen.
  for (let turn = 0; turn < 20; turn++) await world.clock.advance(0)
  await until('it was read', async () => {
    await world.clock.advance(0)
    return world.clock.pending > 0
  })
}

async function startPushed() {
  const world = await startMediaWorld({ without, watchers: true })
  await until('the socket is heard', () => world.jellyfin.pushed > 0)
  const push = async () => {
    const before = world.jellyfin.pushed
    world.jellyfin.push()
    await until('it was pushed', () => world.jellyfin.pushed > before)
  }
  return { world, push, sessions: world.jellyfin.state.sessions }
}

test('transcode_started is pushed once, held while it lasts, and raised again when it is played again', async () => {
  const { world, push, sessions } = await startPushed()
  await using _ = world
  sessions.push(toTranscodingSession())
  await push()
  await until('it is raised', () => of(world, 'transcode_started').length === 1)
  expect(of(world, 'transcode_started')[0]).toMatchObject({
    key: `transcode_started:jellyfin:507cc4e1d598bb0951c5a8ed96f9bdd1:${ARRIVAL.Id}`,
    payload: {
      user: 'sam',
      title: 'Arrival (2016)',
      device: 'Living room TV',
      reason: expect.stringMatching(/^the device cannot play the video codec; the bitrate is above/),
    },
  })
  await push()
  const { TranscodingInfo: _info, ...direct } = toTranscodingSession({ PlayMethod: 'DirectPlay' })
  sessions[0] = direct
  await push()
  sessions[0] = toTranscodingSession()
  await push()
  sessions.length = 0
  await push()
  sessions.push(toTranscodingSession())
  await push()
  await until('it is raised again', () => of(world, 'transcode_started').length >= 2)
  expect(of(world, 'transcode_started')).toHaveLength(2)
})

test('what was playing at the start raises nothing, and neither does what is repacked', async () => {
  await using world = await startMediaWorld({ without, watchers: false })
  world.jellyfin.state.sessions.push(toTranscodingSession())
  await using watching = await startMediaWorld({
    without: ['jellyfin', ...without],
    watchers: true,
    environment: { JELLYFIN_URL: world.jellyfin.url, JELLYFIN_API_KEY: world.jellyfin.apiKey },
  })
  await until('the socket is heard', () => world.jellyfin.pushed > 0)
  const TranscodingInfo = { IsVideoDirect: true, IsAudioDirect: true }
  world.jellyfin.state.sessions.push(toTranscodingSession({ Id: 'other', UserName: 'alex', TranscodingInfo }))
  world.jellyfin.push()
  world.jellyfin.state.sessions.push(toTranscodingSession({ Id: 'third', UserName: 'kim' }))
  world.jellyfin.push()
  await until('the third is raised', () => watching.events().length > 0)
  expect(watching.events().map(({ payload }) => payload['user'])).toEqual(['kim'])
})

test('where nothing is pushed it is polled, and that is told once', async () => {
  await using world = await startMediaWorld({ without, watchers: false })
  world.jellyfin.allowSockets(false)
  await using watching = await startMediaWorld({
    without: ['jellyfin', ...without],
    watchers: true,
    environment: { JELLYFIN_URL: world.jellyfin.url, JELLYFIN_API_KEY: world.jellyfin.apiKey },
  })
  const asked = () => count(world, 'GET /Sessions')
  const advance = (span: number) => watching.clock.advance(span)
  await until('it is asked', () => asked() > 0)
  world.jellyfin.state.sessions.push(toTranscodingSession())
  await until('it is raised', async () => {
    await advance(15 * SECOND)
    return watching.events().length > 0
  })
  const lost = watching.logged.filter(({ event }) => event.includes('lost its connection'))
  expect(lost).toHaveLength(1)
  expect(lost[0]?.fields).toMatchObject({
    where: `${world.jellyfin.url}/socket`,
    why: expect.stringContaining('403'),
  })
  expect(JSON.stringify(watching.logged)).not.toContain(world.jellyfin.apiKey)
})

test('media_added is raised for what is new, once, and not for what was there', async () => {
  await using world = await startMediaWorld({ without, watchers: true })
  await until('the libraries are known', () => count(world, 'GET /Items') > 0)
  await lookAgain(world, 'GET /Items', 60 * SECOND)
  expect(of(world, 'media_added')).toEqual([])
  const film = { ...ARRIVAL, Id: 'f'.repeat(32), Name: 'Dune', ProductionYear: 2021, DateCreated: NEW }
  world.jellyfin.state.items.push(film)
  await lookAgain(world, 'GET /Items', 60 * SECOND)
  await until('it is raised', () => of(world, 'media_added').length === 1)
  expect(of(world, 'media_added')[0]).toMatchObject({
    key: `media_added:jellyfin:${film.Id}`,
    payload: { title: 'Dune (2021)', type: 'movie', library: 'Films' },
  })
  await lookAgain(world, 'GET /Items', 60 * SECOND)
  world.jellyfin.state.items.splice(world.jellyfin.state.items.indexOf(film), 1)
  await lookAgain(world, 'GET /Items', 60 * SECOND)
  world.jellyfin.state.items.push(film)
  await lookAgain(world, 'GET /Items', 60 * SECOND)
  expect(of(world, 'media_added')).toHaveLength(1)
})

test('episodes of one series are one event', async () => {
  await using world = await startMediaWorld({ without, watchers: true })
  await until('the libraries are known', () => count(world, 'GET /Items') > 0)
  await lookAgain(world, 'GET /Items', 60 * SECOND)
  world.jellyfin.state.items.push(...[2, 3, 4].map(number => toEpisode(2, number, NEW)))
  await lookAgain(world, 'GET /Items', 60 * SECOND)
  await until('they are raised', () => of(world, 'media_added').length > 0)
  world.jellyfin.state.items.push(toEpisode(2, 5, NEW))
  await lookAgain(world, 'GET /Items', 60 * SECOND)
  await until('the next is raised', () => of(world, 'media_added').length > 1)
  expect(of(world, 'media_added').map(({ payload }) => payload)).toEqual([
    { title: 'Severance: 3 episodes', type: 'series', library: 'Series' },
    { title: 'Severance S02E05 Chapter 5', type: 'episode', library: 'Series' },
  ])
})

test('older titles that move up when newer ones are deleted are not new', async () => {
  await using world = await startMediaWorld({ without, watchers: true })
  const { state } = world.jellyfin
  await until('the libraries are known', () => count(world, 'GET /Items') > 0)
  const many = Array.from({ length: 250 }, (_, index) => ({
    ...ARRIVAL,
    Id: `b${String(index).padStart(31, '0')}`,
    DateCreated: `2025-01-01T00:${String(Math.floor(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}.0000000Z`,
  }))
  state.items.push(...many)
  await lookAgain(world, 'GET /Items', 60 * SECOND)
  await until('those looked at are raised', () => of(world, 'media_added').length > 100)
  const raised = of(world, 'media_added').length
  state.items = state.items.filter(item => !item.Id.startsWith('b000000000000000000000000000002'))
  await lookAgain(world, 'GET /Items', 60 * SECOND)
  await lookAgain(world, 'GET /Items', 60 * SECOND)
  expect(of(world, 'media_added')).toHaveLength(raised)
})

test('a Jellyfin that is away is told once', async () => {
  await using world = await startMediaWorld({
    without: ['jellyfin', ...without],
    watchers: true,
    environment: { JELLYFIN_URL: 'http://127.0.0.1:9', JELLYFIN_API_KEY: 'a-key-that-nobody-may-see' },
  })
  for (let turn = 0; turn < 40; turn++) await world.clock.advance(30 * SECOND)
  await until('all three have told it', async () => {
    await world.clock.advance(30 * SECOND)
    return new Set(world.logged.map(({ fields }) => fields['watcher'])).size === 3
  })
  expect(world.logged).toHaveLength(3)
  expect(JSON.stringify(world.logged)).not.toContain('a-key-that-nobody-may-see')
})
