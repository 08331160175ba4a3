import { expect, it } from 'vitest'
import { requestPage, searchPage } from '../../servers/media/upstreams/seerr/shapes.ts'
import { decideRequestState } from '../../servers/media/upstreams/seerr/states.ts'
import { startMediaWorld } from '../support/media-world.ts'
import { openContract, recorded } from '../support/openapi.ts'

const contracts = { seerr: openContract('seerr.yml', '/api/v1') }

it('what a real Seerr answered is understood', () => {
  const { results, pageInfo } = requestPage.parse(recorded('seerr', 'request'))
  expect(pageInfo.results).toBe(10)
  expect(results.map(decideRequestState)).toEqual([...Array(9).fill('processing'), 'available'])
  const found = searchPage.parse(recorded('seerr', 'search')).results
  expect(found[0]).toMatchObject({ mediaType: 'movie', title: 'The Matrix', id: 603 })
  expect(found.filter(one => one.mediaType === 'tv').length).toBeGreaterThan(2)
})

it.each([
  ['request_movie', { title: 'Dune', year: 2021 }, /was requested through Seerr: approved, on its way/],
  ['request_movie', { title: "Schindler's List", is4k: true }, /was requested through Seerr/],
  ['request_movie', { title: 'Dune' }, /"Dune \(2021\)", tmdb:438631/],
  ['request_movie', { title: 'Arrival' }, /"Arrival \(2016\)" is available already/],
  ['request_movie', { title: 'Blade Runner 2049' }, /asked for already and on its way/],
  ['request_show', { title: 'Breaking Bad' }, /"Breaking Bad \(2008\)" was requested/],
  ['request_show', { title: 'Breaking Bad', seasons: [1, 2] }, /seasons 1, 2 was requested/],
  [
    'request_show',
    { title: 'Severance', seasons: [1] },
    /Nothing was requested: "Severance \(2022\)" is asked for already/,
  ],
  ['get_requests', {}, /"Severance \(2022\)", season 1: available; asked for by "sam"/],
  ['get_requests', { state: 'pending' }, /There are no such requests/],
  ['diagnose_media', { title: 'Blade Runner 2049' }, /requested: yes \(asked for by "alex"/],
  ['diagnose_media', {}, /Nothing is wrong/],
])('%s %j speaks as the description says', async (tool, args, text) => {
  await using world = await startMediaWorld({ contracts })
  const called = await world.call(tool, args)
  expect(called.text).toMatch(text)
  expect(called.isError).toBe(false)
  expect(world.seerr.requests.length).toBeGreaterThan(0)
})
