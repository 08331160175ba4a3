import { expect, test } from 'vitest'
import {
  ARRIVAL,
  type Jellyfin,
  startJellyfin,
  toEpisode,
  toTranscodingSession,
} from '../../../tests/lab/jellyfin.ts'
import { type MediaWorld, startMediaWorld } from '../../../tests/support/media-world.ts'
import { until } from '../../../tests/support/until.ts'
import { systemClock } from '../../kit/clock.ts'
import type { Emit } from '../../kit/events.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { readMediaSettings } from '../config.ts'
import { createMedia } from '../upstreams/upstreams.ts'
import { createAddedWatcher } from './added.ts'
import { createSessionWatchers } from './sessions.ts'

const without = ['radarr', 'sonarr', 'seerr'] as const
const NEW = '2026-11-22T03:59:00.0000000Z'
const SECOND = 1000

const of = (world: MediaWorld, type: string) => world.events().filter(event => event.type === type)

/** Opens the watchers of a lab's Jellyfin alone, so that a test decides when they probe. */
function openWatchers(lab: Jellyfin) {
  const environment = { JELLYFIN_URL: lab.url, JELLYFIN_API_KEY: lab.apiKey }
  const [jellyfin] = createMedia(readMediaSettings(environment), systemClock).jellyfins
  if (!jellyfin) throw new Error('There is no Jellyfin.')
  const raised: { type: string; payload: unknown; key: string }[] = []
  const deps = {
    every: 1000,
    clock: systemClock,
    emit: ((type, payload, key) => void raised.push({ type, payload, key })) as Emit,
  }
  const [follower, sessions] = createSessionWatchers(jellyfin, deps)
  return { raised, follower, sessions, added: createAddedWatcher(jellyfin, deps) }
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

test('where nothing is pushed it is polled, and why is told', async () => {
  await using lab = await startJellyfin()
  lab.allowSockets(false)
  const { raised, follower, sessions } = openWatchers(lab)
  await sessions.poll()
  const failure = await follower.follow(new AbortController().signal, () => undefined).catch(error => error)
  expect(failure).toBeInstanceOf(ToolFailure)
  expect(failure.failure).toMatchObject({ where: `${lab.url}/socket`, why: expect.stringContaining('403') })
  expect(JSON.stringify(failure.failure)).not.toContain(lab.apiKey)
  lab.state.sessions.push(toTranscodingSession())
  await sessions.poll()
  await sessions.poll()
  expect(raised.map(({ type }) => type)).toEqual(['transcode_started'])
})

test('while it is pushed nothing is polled, and after that again', async () => {
  await using lab = await startJellyfin()
  const { follower, sessions } = openWatchers(lab)
  const ending = new AbortController()
  const ready = Promise.withResolvers<void>()
  const followed = follower.follow(ending.signal, ready.resolve)
  await ready.promise
  await sessions.poll()
  expect(lab.requests).toEqual([])
  ending.abort()
  await followed
  await sessions.poll()
  expect(lab.requests.map(({ route }) => route)).toEqual(['GET /Sessions'])
})

test('media_added is raised for what is new, once, and not for what was there', async () => {
  await using lab = await startJellyfin()
  const { raised, added } = openWatchers(lab)
  await added.poll()
  expect(raised).toEqual([])
  const film = { ...ARRIVAL, Id: 'f'.repeat(32), Name: 'Dune', ProductionYear: 2021, DateCreated: NEW }
  lab.state.items.push(film)
  await added.poll()
  const event = {
    type: 'media_added',
    key: `media_added:jellyfin:${film.Id}`,
    payload: { title: 'Dune (2021)', type: 'movie', library: 'Films' },
  }
  expect(raised).toEqual([event])
  await added.poll()
  lab.state.items.splice(lab.state.items.indexOf(film), 1)
  await added.poll()
  lab.state.items.push(film)
  await added.poll()
  expect(raised).toEqual([event])
})

test('episodes of one series are one event', async () => {
  await using lab = await startJellyfin()
  const { raised, added } = openWatchers(lab)
  await added.poll()
  lab.state.items.push(...[2, 3, 4].map(number => toEpisode(2, number, NEW)))
  await added.poll()
  lab.state.items.push(toEpisode(2, 5, NEW))
  await added.poll()
  expect(raised.map(({ payload }) => payload)).toEqual([
    { title: 'Severance: 3 episodes', type: 'series', library: 'Series' },
    { title: 'Severance S02E05 Chapter 5', type: 'episode', library: 'Series' },
  ])
})

test('older titles that move up when newer ones are deleted are not new', async () => {
  await using lab = await startJellyfin()
  const { state } = lab
  const toId = (index: number) => `b${String(index).padStart(31, '0')}`
  const toDate = (index: number) =>
    `2025-01-01T00:${String(Math.floor(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}.0000000Z`
  const many = Array.from({ length: 250 }, (_, index) => ({
    ...ARRIVAL,
    Id: toId(index),
    DateCreated: toDate(index),
  }))
  state.items = many
  const { raised, added } = openWatchers(lab)
  await added.poll()
  state.items = many.slice(0, 240)
  await added.poll()
  expect(raised).toEqual([])
  state.items.push({ ...ARRIVAL, Id: toId(999), DateCreated: NEW })
  await added.poll()
  expect(raised).toHaveLength(1)
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
