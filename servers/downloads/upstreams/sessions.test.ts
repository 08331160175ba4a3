import { expect, test } from 'vitest'
import { type Clock, systemClock } from '../../kit/clock.ts'
import { status } from '../../kit/testing/faulty-upstream.ts'
import { startWorld } from '../../kit/testing/server-world.ts'
import { downloads } from '../server.ts'
import { HASH } from '../testing/fake-parts.ts'
import { startFakeProgram } from '../testing/fake-programs.ts'

/** A clock that does not wait between tries. */
const hasty: Clock = {
  ...systemClock,
  after: (delay, run) => systemClock.after(delay < 5000 ? 0 : delay, run),
}

test('qBittorrent 4 is told pause and resume, once it answered stop with 404', async () => {
  const program = await startFakeProgram('qbittorrent')
  await using upstream = program.upstream
  const gone = status(404, 'Not Found')
  upstream.route({
    'POST /api/v2/torrents/stop': gone,
    'POST /api/v2/torrents/start': gone,
    'POST /api/v2/torrents/pause': status(200, ''),
    'POST /api/v2/torrents/resume': status(200, ''),
  })
  await using world = await startWorld(downloads, {
    clock: hasty,
    environment: program.environment,
    watchers: false,
  })
  await world.call('pause_download', { download: 'show' })
  expect((await world.call('resume_download', { download: 'show' })).isError).toBe(false)
  expect(program.changes().map(line => line.split(' ')[0])).toEqual([
    '/api/v2/torrents/stop',
    '/api/v2/torrents/pause',
    '/api/v2/torrents/resume',
  ])
})

test('a qBittorrent session that ran out is made anew; a wrong password is sent once', async () => {
  const program = await startFakeProgram('qbittorrent')
  await using upstream = program.upstream
  const logins = () => upstream.requests.filter(({ path }) => path.endsWith('/login')).length
  const options = { clock: hasty, watchers: false }
  await using world = await startWorld(downloads, { ...options, environment: program.environment })
  await world.call('get_download_status')
  await world.call('get_download_status')
  expect(logins()).toBe(1)
  upstream.next(status(403, 'Forbidden'))
  expect((await world.call('get_download_status')).isError).toBe(false)
  expect(logins()).toBe(2)
  const environment = { ...program.environment, QBITTORRENT_PASSWORD: 'wrong-word' }
  await using wrong = await startWorld(downloads, { ...options, environment })
  await wrong.call('get_download_status')
  const held = await wrong.call('get_download_status')
  expect(held.text).toMatch(/did not accept the user or the password.*The next login is tried in 1[45] min/s)
  expect(logins()).toBe(3)
})

test('a Transmission session that ran out is made anew', async () => {
  const program = await startFakeProgram('transmission')
  await using upstream = program.upstream
  await using world = await startWorld(downloads, {
    clock: hasty,
    environment: program.environment,
    watchers: false,
  })
  await world.call('get_download_status')
  upstream.next(status(409, '', { 'x-transmission-session-id': 'other' }))
  expect((await world.call('pause_downloads')).isError).toBe(false)
  expect(program.changes()).toEqual([`{"method":"torrent-stop","arguments":{"ids":["${HASH}"]}}`])
})

test('a Transmission that hands out one session after the other is asked three times, then told of', async () => {
  const program = await startFakeProgram('transmission')
  await using upstream = program.upstream
  await using world = await startWorld(downloads, {
    clock: hasty,
    environment: program.environment,
    watchers: false,
  })
  const other = status(409, '', { 'x-transmission-session-id': 'other' })
  upstream.next(other, other, other)
  expect((await world.call('get_download_status')).isError).toBe(false)
  upstream.will(other)
  const before = upstream.requests.length
  expect((await world.call('get_download_status')).isError).toBe(true)
  expect(upstream.requests.length - before).toBe(5)
})
