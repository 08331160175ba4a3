import { describe, expect, test } from 'vitest'
import { startJellyfin, toTranscodingSession } from '../../../tests/lab/jellyfin.ts'
import { startMediaWorld } from '../../../tests/support/media-world.ts'
import { startWorld } from '../../kit/testing/server-world.ts'
import { media } from '../server.ts'
import { createHastyClock } from '../testing/hasty-clock.ts'

describe('stop_jellyfin_session', () => {
  test('says whose playback it would stop, and stops it when confirmed, after the message', async () => {
    await using world = await startMediaWorld()
    const session = toTranscodingSession()
    world.jellyfin.state.sessions.push(session)
    const preview = await world.call('stop_jellyfin_session', { session: 'Living room TV', message: 'Sorry' })
    expect(preview.data).toMatchObject({ done: false, stopped: false, user: 'sam' })
    expect(world.jellyfin.state.stopped).toEqual([])
    const { data } = await world.call('stop_jellyfin_session', {
      session: session.Id,
      message: 'Sorry',
      confirm: true,
    })
    expect(data).toMatchObject({ done: true, stopped: true, messageShown: true })
    expect(world.jellyfin.state.messages).toEqual([{ session: session.Id, text: 'Sorry' }])
    expect(world.jellyfin.state.stopped).toEqual([session.Id])
    const none = await world.call('stop_jellyfin_session', { session: session.Id })
    expect(none.text).toMatch(/Nothing is played by .*\n.*\nWhy: nothing is playing at all/)
  })

  test('asks which where one person plays twice, and shows no message where the app cannot', async () => {
    await using world = await startMediaWorld()
    world.jellyfin.state.sessions.push(
      toTranscodingSession({ commands: [] }),
      toTranscodingSession({ Id: 'second', DeviceName: 'Phone' }),
    )
    const several = await world.call('stop_jellyfin_session', { session: 'sam', confirm: true })
    expect(several.text).toContain('There are several sessions of "sam".')
    const silent = await world.call('stop_jellyfin_session', {
      session: 'living room tv',
      message: 'Sorry',
      messageOnly: true,
    })
    expect(silent.text).toContain('its app cannot show messages')
    expect(world.jellyfin.state.stopped).toEqual([])
  })
})

test('refresh_library waits for the end of the scan and reports how far it is', async () => {
  await using lab = await startJellyfin()
  const environment = { JELLYFIN_URL: lab.url, JELLYFIN_API_KEY: lab.apiKey }
  await using world = await startWorld(media, { clock: createHastyClock(), environment, watchers: false })
  lab.state.step = 40
  const { data, text, progress } = await world.call('refresh_library', { waitSeconds: 60 })
  expect(data).toMatchObject({ state: 'finished', percent: 100 })
  expect(text).toBe('All libraries were scanned.')
  expect(progress.at(-1)).toEqual({ progress: 80, total: 100, message: 'scanning' })
  lab.state.step = 1
  const slow = await world.call('refresh_library', { waitSeconds: 20 })
  expect(slow.data).toMatchObject({ state: 'running', percent: 9 })
  expect(slow.text).toContain('9 % done; the scan goes on by itself')
  const wrong = await world.call('refresh_library', { library: 'Music' })
  expect(wrong.text).toContain('it has "Films", "Series"')
})
