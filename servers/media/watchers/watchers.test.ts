import { expect, test } from 'vitest'
import {
  ARRIVAL,
  type Jellyfin,
  startJellyfin,
  toEpisode,
  toTranscodingSession,
} from '../../../tests/lab/jellyfin.ts'
import { startMediaWorld } from '../../../tests/support/media-world.ts'
import { until } from '../../../tests/support/until.ts'
import { systemClock } from '../../kit/clock.ts'
import type { Emit } from '../../kit/events.ts'
import { readMediaSettings } from '../config.ts'
import { createMedia } from '../upstreams/upstreams.ts'
import { createAddedWatcher } from './added.ts'
import { createTranscodeWatcher } from './transcodes.ts'

const without = ['radarr', 'sonarr', 'seerr'] as const
const NEW = '2026-11-22T03:59:00.0000000Z'
const SECOND = 1000

/** Opens the watchers of a lab's Jellyfin alone, so that a test decides when they probe. */
function openWatchers(lab: Jellyfin) {
  const environment = { JELLYFIN_URL: lab.url, JELLYFIN_API_KEY: lab.apiKey }
  const [jellyfin] = createMedia(readMediaSettings(environment), systemClock).jellyfins
  if (!jellyfin) throw new Error('There is no Jellyfin.')
  const raised: { type: string; payload: unknown; key: string }[] = []
  const deps = {
    every: 1000,
    emit: ((type, payload, key) => void raised.push({ type, payload, key })) as Emit,
  }
  return {
    raised,
    sessions: createTranscodeWatcher(jellyfin, deps),
    added: createAddedWatcher(jellyfin, deps),
  }
}

test('transcode_started is raised once, held while it lasts, and raised again when it is played again', async () => {
  await using lab = await startJellyfin()
  const { raised, sessions } = openWatchers(lab)
  const playing = lab.state.sessions
  await sessions.poll()
  playing.push(toTranscodingSession())
  await sessions.poll()
  await sessions.poll()
  expect(raised).toEqual([
    {
      type: 'transcode_started',
      key: `transcode_started:jellyfin:507cc4e1d598bb0951c5a8ed96f9bdd1:${ARRIVAL.Id}`,
      payload: {
        user: 'sam',
        title: 'Arrival (2016)',
        device: 'Living room TV',
        reason: expect.stringMatching(/^the device does not support the video codec; the bitrate is above/),
      },
    },
  ])
  const { TranscodingInfo: _info, ...direct } = toTranscodingSession({ PlayMethod: 'DirectPlay' })
  playing[0] = direct
  await sessions.poll()
  playing[0] = toTranscodingSession()
  await sessions.poll()
  expect(raised).toHaveLength(1)
  playing.length = 0
  await sessions.poll()
  playing.push(toTranscodingSession())
  await sessions.poll()
  expect(raised).toHaveLength(2)
})

test('what was playing at the start raises nothing, and neither does what is repacked', async () => {
  await using lab = await startJellyfin()
  const { raised, sessions } = openWatchers(lab)
  lab.state.sessions.push(toTranscodingSession())
  await sessions.poll()
  const TranscodingInfo = { IsVideoDirect: true, IsAudioDirect: true }
  lab.state.sessions.push(toTranscodingSession({ Id: 'other', UserName: 'alex', TranscodingInfo }))
  await sessions.poll()
  lab.state.sessions.push(toTranscodingSession({ Id: 'third', UserName: 'kim' }))
  await sessions.poll()
  expect(raised).toMatchObject([{ payload: { user: 'kim' } }])
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
  await until('both have told it', async () => {
    await world.clock.advance(30 * SECOND)
    return new Set(world.logged.map(({ fields }) => fields['watcher'])).size === 2
  })
  expect(world.logged).toHaveLength(2)
  expect(JSON.stringify(world.logged)).not.toContain('a-key-that-nobody-may-see')
})
