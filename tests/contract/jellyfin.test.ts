import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../servers/kit/clock.ts'
import { readMediaSettings } from '../../servers/media/config.ts'
import { toDelivery } from '../../servers/media/upstreams/jellyfin/playing.ts'
import { itemPage, session, sessions, tasks } from '../../servers/media/upstreams/jellyfin/shapes.ts'
import { createMedia } from '../../servers/media/upstreams/upstreams.ts'
import { createAddedWatcher } from '../../servers/media/watchers/added.ts'
import { createTranscodeWatcher } from '../../servers/media/watchers/transcodes.ts'
import { startJellyfin, toEpisode, toTranscodingSession } from '../lab/jellyfin.ts'
import { startMediaWorld } from '../support/media-world.ts'
import { openContract, recorded, specsFolder } from '../support/openapi.ts'

const contracts = { jellyfin: openContract('jellyfin.json') }

it('every described reason of a transcode has words of its own, and a new one is told as it is', () => {
  const path = join(specsFolder(), 'openapi', 'jellyfin.json')
  const description = JSON.parse(readFileSync(path, 'utf8'))
  const names: string[] = description.components.schemas.TranscodeReason.enum
  expect(names.length).toBeGreaterThan(25)
  const { reasons } = toDelivery(
    session.parse({ Id: '1', TranscodingInfo: { TranscodeReasons: [...names, 'CodecFromTheFuture'] } }),
  )
  expect(reasons.filter(reason => reason.startsWith('Jellyfin says'))).toEqual([
    'Jellyfin says codec from the future',
  ])
  expect(new Set(reasons).size).toBe(names.length + 1)
})

it('what a real Jellyfin answered is understood', () => {
  const page = itemPage.parse(recorded('jellyfin', 'items-search'))
  expect(page.Items[0]).toMatchObject({ Name: 'A Complete Unknown', ProviderIds: { Tmdb: '661539' } })
  expect(itemPage.parse(recorded('jellyfin', 'items-library')).Items.length).toBeGreaterThan(10)
  expect(sessions.parse(recorded('jellyfin', 'sessions')).map(one => one.Client)).toContain('Wholphin')
  expect(tasks.parse(recorded('jellyfin', 'scheduled-tasks')).some(one => one.Key === 'RefreshLibrary')).toBe(
    true,
  )
})

it.each([
  ['search_media', { query: 'arrival' }, /"Arrival \(2016\)" \(film\): in Jellyfin/],
  ['get_recently_added', { limit: 2 }, /"Arrival \(2016\)" \(movie\) in "Films"/],
  ['get_jellyfin_sessions', {}, /"sam" has "Arrival \(2016\)" playing .* transcoding video to h264/],
  ['stop_jellyfin_session', { session: 'sam', message: 'Later', confirm: true }, /told to stop/],
  ['refresh_library', { waitSeconds: 0 }, /All libraries are being scanned/],
  ['refresh_library', { library: 'films', waitSeconds: 0 }, /"Films" is being scanned/],
  ['diagnose_media', { title: 'Severance' }, /in Jellyfin: yes \(Jellyfin has 3 episodes\)/],
  ['diagnose_media', {}, /Nothing is wrong/],
])('%s %j speaks as the description says', async (tool, args, text) => {
  await using world = await startMediaWorld({ contracts })
  world.jellyfin.state.sessions.push(toTranscodingSession())
  const called = await world.call(tool, args)
  expect(called.text).toMatch(text)
  expect(called.isError).toBe(false)
  expect(world.jellyfin.requests.length).toBeGreaterThan(0)
})

it('what the watchers ask is as the description says', async () => {
  await using lab = await startJellyfin({ contract: contracts.jellyfin })
  const environment = { JELLYFIN_URL: lab.url, JELLYFIN_API_KEY: lab.apiKey }
  const [jellyfin] = createMedia(readMediaSettings(environment), systemClock).jellyfins
  if (!jellyfin) throw new Error('There is no Jellyfin.')
  const raised: string[] = []
  const deps = { every: 1000, emit: (type: string) => void raised.push(type) }
  const sessions = createTranscodeWatcher(jellyfin, deps)
  const added = createAddedWatcher(jellyfin, deps)
  await sessions.poll()
  await added.poll()
  lab.state.items.push(toEpisode(2, 2, '2026-11-22T03:59:00.0000000Z'))
  await added.poll()
  lab.state.sessions.push(toTranscodingSession())
  await sessions.poll()
  expect(raised).toEqual(['media_added', 'transcode_started'])
})
