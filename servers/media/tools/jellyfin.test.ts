import { describe, expect, test } from 'vitest'
import { toTranscodingSession } from '../../../tests/lab/jellyfin.ts'
import { startMediaWorld } from '../../../tests/support/media-world.ts'
import { until } from '../../../tests/support/until.ts'

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
  await using world = await startMediaWorld()
  const { state } = world.jellyfin
  const called = world.call('refresh_library', { waitSeconds: 60 })
  await until('the scan runs', () => state.scan === 0)
  state.scan = 40
  const looks = () => world.jellyfin.requests.filter(({ route }) => route === 'GET /ScheduledTasks').length
  await until('it was looked at', async () => {
    await world.clock.advance(2000)
    return looks() > 1
  })
  state.scan = undefined
  let isDone = false
  void called.then(() => {
    isDone = true
  })
  await until('it is over', async () => {
    await world.clock.advance(2000)
    return isDone
  })
  const { data, text, progress } = await called
  expect(data).toMatchObject({ state: 'finished', percent: 100 })
  expect(text).toBe('All libraries were scanned.')
  expect(progress).toContainEqual({ progress: 40, total: 100, message: 'scanning' })
  const wrong = await world.call('refresh_library', { library: 'Music' })
  expect(wrong.text).toContain('it has "Films", "Series"')
})
