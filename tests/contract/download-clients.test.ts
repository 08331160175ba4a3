import { expect, it } from 'vitest'
import { downloads } from '../../servers/downloads/server.ts'
import { createFakeClock } from '../../servers/kit/testing/fake-clock.ts'
import { ok, startFaultyUpstream } from '../../servers/kit/testing/faulty-upstream.ts'
import { startWorld } from '../../servers/kit/testing/server-world.ts'
import { recorded } from '../support/openapi.ts'

/* Checks that recorded answers of real SABnzbd 5.0, qBittorrent 5.0 and Transmission 4.1 are understood. */

const clock = createFakeClock(1_755_400_000_000)

async function status(environment: Record<string, string>, tool = 'get_download_status') {
  await using world = await startWorld(downloads, { clock, environment, watchers: false })
  const { isError, text, data } = await world.call(tool)
  expect(isError, text).toBe(false)
  return { text, data }
}

it('SABnzbd: its queue', async () => {
  const queue = recorded('sabnzbd', 'queue')
  const history = { history: { slots: [], noofslots: 0 } }
  await using upstream = await startFaultyUpstream({
    'POST /api': seen => ok(new URLSearchParams(seen.body).get('mode') === 'history' ? history : queue),
  })
  const { data } = await status({ SABNZBD_URL: upstream.url, SABNZBD_API_KEY: 'k' })
  expect(data['clients']).toEqual([
    expect.objectContaining({
      paused: false,
      bytesPerSecond: 0,
      neededBytes: 0,
      freeBytes: Math.round(4711.95 * 2 ** 30),
    }),
  ])
})

it('qBittorrent: its torrents and the state of its server', async () => {
  const torrents = recorded('qbittorrent', 'torrents-info') as { hash: string }[]
  const maindata = recorded('qbittorrent', 'maindata') as object
  const byHash = Object.fromEntries(torrents.map(({ hash, ...torrent }) => [hash, torrent]))
  await using upstream = await startFaultyUpstream({
    'GET /api/v2/sync/maindata': ok({ ...maindata, torrents: byHash }),
  })
  const environment = { QBITTORRENT_URL: upstream.url }
  const { text, data } = await status(environment)
  expect(data['clients']).toEqual([
    expect.objectContaining({
      bytesPerSecond: 5_242_880,
      freeBytes: 419_430_400_000,
      neededBytes: 3_221_225_472,
    }),
  ])
  expect(text).toContain(
    '- "Release.Name.1.1080p.WEB-DL.x264-GROUP" (qbittorrent): downloading at 60 % of 7.5 GiB, 5 MiB/s, 10 min left, category "category".',
  )
  expect((await status(environment, 'get_download_history')).text).toMatch(
    /"Release.Name.2.*" \(qbittorrent\): completed 1 d 17 h ago, 2 GiB, category "category", still shared/,
  )
  await using empty = await startFaultyUpstream({ 'GET /api/v2/sync/maindata': ok(maindata) })
  expect((await status({ QBITTORRENT_URL: empty.url })).data['total']).toBe(0)
})

it('Transmission: its session', async () => {
  const session = recorded('transmission', 'session-get')
  await using upstream = await startFaultyUpstream({
    'POST /transmission/rpc': seen =>
      ok(seen.body.includes('torrent-get') ? { result: 'success', arguments: { torrents: [] } } : session),
  })
  const { data } = await status({ TRANSMISSION_URL: upstream.url })
  expect(data['clients']).toEqual([
    expect.objectContaining({ client: 'transmission', paused: false, freeBytes: 5_059_419_324_416 }),
  ])
  expect((data['clients'] as Record<string, unknown>[])[0]?.['limitBytesPerSecond']).toBeUndefined()
})
