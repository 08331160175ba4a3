import { expect, it } from 'vitest'
import { openContract, recorded } from '../support/openapi.ts'

it('what real programs answered fits their descriptions', () => {
  const radarr = openContract('radarr-v3.json')
  expect(radarr.answer('GET', '/api/v3/movie', 200, recorded('radarr', 'movie'))).toEqual([])
  expect(radarr.answer('GET', '/api/v3/movie/lookup', 200, recorded('radarr', 'movie-lookup'))).toEqual([])
  const sonarr = openContract('sonarr-v3.json')
  expect(sonarr.answer('GET', '/api/v3/series', 200, recorded('sonarr', 'series'))).toEqual([])
  const jellyfin = openContract('jellyfin.json')
  expect(jellyfin.answer('GET', '/Sessions', 200, recorded('jellyfin', 'sessions'))).toEqual([])
  const seerr = openContract('seerr.yml', '/api/v1')
  expect(seerr.answer('GET', '/api/v1/status', 200, recorded('seerr', 'status'))).toEqual([])
})

it.each([
  ['radarr-v3.json', '', 'POST', '/api/v3/movie', { title: 5 }],
  ['sonarr-v3.json', '', 'POST', '/api/v3/series', { title: 5 }],
  ['seerr.yml', '/api/v1', 'POST', '/api/v1/request', { mediaType: 'book', mediaId: 1 }],
  ['gotify.json', '', 'POST', '/message', { message: 5 }],
  ['discord.json', '/api/v10', 'POST', '/api/v10/channels/2/messages', { content: 5 }],
])('%s: a wrong body is told', (file, base, method, path, body) => {
  expect(openContract(file, base).request(method, path, body)).not.toEqual([])
})

it.each([
  ['seerr.yml', '/api/v1', 'POST', '/api/v1/request', { mediaType: 'movie', mediaId: 1 }],
  ['gotify.json', '', 'POST', '/message', { message: 'hi', priority: 5 }],
  ['discord.json', '/api/v10', 'POST', '/api/v10/channels/2/messages', { content: 'hi' }],
])('%s: a right body passes', (file, base, method, path, body) => {
  expect(openContract(file, base).request(method, path, body)).toEqual([])
})

it('an operation that is not described is told', () => {
  expect(openContract('radarr-v3.json').request('POST', '/api/v3/nothing', {})).toEqual([
    'POST /api/v3/nothing: no such operation',
  ])
})
