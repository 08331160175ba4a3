import { expect, it } from 'vitest'
import { z } from 'zod'
import { episode, paged, queueItem, title } from '../../servers/media/upstreams/arr/shapes.ts'
import { toQueueEntry } from '../lab/arr.ts'
import { startMediaWorld } from '../support/media-world.ts'
import { openContract, recorded } from '../support/openapi.ts'

const contract = openContract('sonarr-v3.json')
const contracts = { sonarr: contract }
const without = ['seerr'] as const

it('what a real Sonarr answered is understood', () => {
  const all = z.array(title).parse(recorded('sonarr', 'series'))
  expect(all.length).toBe(134)
  expect(all.every(one => one.id && one.tvdbId && one.seasons?.length)).toBe(true)
  expect(z.array(title).parse(recorded('sonarr', 'series-lookup'))[0]).toMatchObject({
    title: 'Breaking Bad',
    tvdbId: 81189,
  })
  expect(z.array(episode).parse(recorded('sonarr', 'episode'))[0]).toMatchObject({
    seasonNumber: 1,
    hasFile: true,
  })
  expect(z.array(episode).parse(recorded('sonarr', 'calendar'))[0]?.title).toBe('Are We Bad People?')
  expect(paged(queueItem).parse(recorded('sonarr', 'queue')).records).toEqual([])
})

it.each([
  ['search_media', { query: 'breaking' }, /"Breaking Bad \(2008\)" \(series\): not here yet/],
  [
    'request_show',
    { title: 'Breaking Bad' },
    /was added to Sonarr with the quality profile "Any" in "\/mnt\/large\/tv": all seasons monitored/,
  ],
  [
    'request_show',
    { title: 'The Office', id: 78107, seasons: [1], search: false },
    /season 1 monitored, not searched for yet/,
  ],
  [
    'request_show',
    { title: 'Severance' },
    /in Sonarr already, monitored, with 3 of 4 monitored episodes there/,
  ],
  ['get_requests', {}, /"Severance S02E02" \(sonarr\): downloading, 75 %/],
  ['get_upcoming', { days: 7 }, /"Severance S02E03 Chapter 3": airs at 24 Nov 2026 21:00 (CET|GMT\+1)/],
  ['search_missing', { type: 'show', limit: 1 }, /Sonarr searches for 1 title: "Severance S02E02"/],
  ['search_missing', { title: 'severance' }, /Sonarr searches for 1 title: "Severance S02E02"/],
  ['diagnose_media', { title: 'Severance' }, /is on its way, and stands at "downloaded": downloading, 75 %/],
  ['diagnose_media', {}, /Nothing is wrong/],
])('%s %j speaks as the description says', async (tool, args, text) => {
  await using world = await startMediaWorld({ contracts, without })
  const { queue, episodes } = world.sonarr.state
  queue.push(toQueueEntry({ id: 7, title: 'Severance.S02E02', seriesId: 1, episodeId: 22, seasonNumber: 2 }))
  const last = { id: 23, seriesId: 1, seasonNumber: 2, episodeNumber: 3, hasFile: false, monitored: true }
  if (tool === 'get_upcoming')
    episodes.push({ ...last, title: 'Chapter 3', airDateUtc: '2026-11-24T20:00:00Z' })
  const called = await world.call(tool, args)
  expect(called.text).toMatch(text)
  expect(called.isError).toBe(false)
  expect(world.sonarr.requests.length).toBeGreaterThan(0)
})

it.each([{}, { seasons: [2] }])(
  'a whole series of a real lookup, sent back with our additions for %j, fits the description',
  async choice => {
    await using world = await startMediaWorld({ contracts, without })
    await world.call('request_show', { title: 'Breaking Bad', ...choice })
    const [added] = world.sonarr.state.added
    const additions = Object.fromEntries(
      ['qualityProfileId', 'rootFolderPath', 'monitored', 'seasonFolder', 'seasons', 'addOptions'].map(
        key => [key, added?.[key]],
      ),
    )
    const [real] = recorded('sonarr', 'series-lookup') as Record<string, unknown>[]
    expect(contract.request('POST', '/api/v3/series', { ...title.parse(real), ...additions })).toEqual([])
  },
)
