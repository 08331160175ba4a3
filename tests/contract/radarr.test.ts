import { expect, it } from 'vitest'
import { z } from 'zod'
import { paged, queueItem, title } from '../../servers/media/upstreams/arr/shapes.ts'
import { toQueueEntry } from '../lab/arr.ts'
import { startMediaWorld } from '../support/media-world.ts'
import { openContract, recorded } from '../support/openapi.ts'

const contract = openContract('radarr-v3.json')
const contracts = { radarr: contract }
const without = ['seerr'] as const

it('what a real Radarr answered is understood', () => {
  const movies = z.array(title).parse(recorded('radarr', 'movie'))
  expect(movies.length).toBe(250)
  expect(movies.every(one => (one.id ?? 0) > 0 && (one.tmdbId ?? 0) > 0)).toBe(true)
  expect(z.array(title).parse(recorded('radarr', 'movie-lookup'))[0]).toMatchObject({
    title: 'The Matrix',
    tmdbId: 603,
  })
  expect(z.array(title).parse(recorded('radarr', 'calendar'))[0]?.inCinemas).toBe('2026-08-05T00:00:00Z')
  expect(paged(queueItem).parse(recorded('radarr', 'queue')).records).toEqual([])
})

it.each([
  ['search_media', { query: 'dune' }, /"Dune \(2021\)" \(film\): not here yet/],
  [
    'request_movie',
    { title: 'Dune', year: 2021 },
    /was added to Radarr with the quality profile "Any" in "\/mnt\/large\/movies"/,
  ],
  ['request_movie', { title: 'Dune', id: 841, qualityProfile: 'hd-1080p' }, /quality profile "HD-1080p"/],
  ['request_movie', { title: 'Arrival' }, /in Radarr already, monitored, with a file/],
  ['get_requests', {}, /"Blade Runner 2049 \(2017\)" \(radarr\): STUCK, .*no files found/],
  ['get_upcoming', { days: 90 }, /Nothing comes out/],
  ['search_missing', { type: 'movie' }, /Radarr searches for 1 title: "Blade Runner 2049 \(2017\)"/],
  ['search_missing', { title: 'Blade Runner 2049' }, /Radarr searches for 1 title/],
  ['diagnose_media', { title: 'Blade Runner 2049' }, /stopped at "imported"/],
  ['diagnose_media', {}, /is stuck/],
])('%s %j speaks as the description says', async (tool, args, text) => {
  await using world = await startMediaWorld({ contracts, without })
  const statusMessages = [{ title: 'Blade.Runner', messages: ['no files found are eligible for import'] }]
  const stuck = { trackedDownloadState: 'importBlocked', trackedDownloadStatus: 'warning', statusMessages }
  world.radarr.state.queue.push(toQueueEntry({ id: 5, title: 'Blade.Runner', movieId: 2, ...stuck }))
  const called = await world.call(tool, args)
  expect(called.text).toMatch(text)
  expect(called.isError).toBe(false)
  expect(world.radarr.requests.length).toBeGreaterThan(0)
})

it('a whole film of a real lookup, sent back with our additions, fits the description', async () => {
  await using world = await startMediaWorld({ contracts, without })
  await world.call('request_movie', { title: 'The Matrix' })
  const [added] = world.radarr.state.added
  const additions = Object.fromEntries(
    ['qualityProfileId', 'rootFolderPath', 'monitored', 'minimumAvailability', 'addOptions'].map(key => [
      key,
      added?.[key],
    ]),
  )
  const [real] = recorded('radarr', 'movie-lookup') as Record<string, unknown>[]
  expect(contract.request('POST', '/api/v3/movie', { ...title.parse(real), ...additions })).toEqual([])
})
