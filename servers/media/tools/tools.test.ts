import { expect, test } from 'vitest'
import { toQueueEntry } from '../../../tests/lab/arr.ts'
import { toTranscodingSession } from '../../../tests/lab/jellyfin.ts'
import { NOW, startMediaWorld } from '../../../tests/support/media-world.ts'
import { addDays, toDay, toDayText } from '../moments.ts'

const direct = { without: ['seerr'] as const }

test('get_requests pages, filters, and tells what is stuck first', async () => {
  await using world = await startMediaWorld()
  world.radarr.state.queue.push(
    toQueueEntry({ id: 1, title: 'Arrival.2016', movieId: 1 }),
    toQueueEntry({
      id: 2,
      title: 'Blade.Runner',
      movieId: 2,
      status: 'failed',
      errorMessage: 'Aborted, cannot be completed',
    }),
  )
  const { data, text } = await world.call('get_requests', { limit: 1 })
  expect(data).toMatchObject({
    total: 2,
    more: true,
    requests: [{ title: 'Severance', type: 'show', state: 'available', requestedBy: 'sam' }],
  })
  expect(text).toContain('1 of 2 requests; call again with offset 1 for more.')
  expect((data['downloads'] as { stuck: boolean }[]).map(({ stuck }) => stuck)).toEqual([true, false])
  expect(text).toContain(
    '"Blade Runner 2049 (2017)" (radarr): STUCK, failed in the download client, 75 %: "Aborted, cannot be completed"',
  )
  expect((await world.call('get_requests', { state: 'approved' })).data).toMatchObject({ total: 1 })
})

test('tools that ask several tell what they could not ask, and go on', async () => {
  await using world = await startMediaWorld({ environment: { SONARR_API_KEY: 'a-wrong-key-for-sonarr' } })
  for (const [tool, args] of [
    ['search_media', { query: 'dune' }],
    ['get_requests', {}],
    ['get_upcoming', {}],
    ['search_missing', {}],
  ] as const) {
    const { isError, data, text } = await world.call(tool, args)
    expect(isError).toBe(false)
    expect(data['unknown']).toEqual([
      { upstream: 'Sonarr', why: expect.stringContaining('did not accept the key') },
    ])
    expect(text).toContain('Sonarr could not be asked, so nothing is known of it')
  }
})

test('get_upcoming tells days in the time zone, from the beginning of today on', async () => {
  await using world = await startMediaWorld(direct)
  const about = { seriesId: 1, seasonNumber: 2, hasFile: false, monitored: true }
  world.sonarr.state.episodes.push(
    { ...about, id: 31, episodeNumber: 3, title: 'Late', airDateUtc: '2026-11-22T23:30:00Z' },
    { ...about, id: 32, episodeNumber: 4, title: 'Gone', airDateUtc: '2026-11-21T22:59:00Z' },
    { ...about, id: 33, episodeNumber: 5, title: 'Tonight', airDateUtc: '2026-11-21T23:00:00Z' },
  )
  world.radarr.state.movies.push({
    id: 9,
    title: 'Wake',
    year: 2026,
    tmdbId: 5,
    monitored: true,
    hasFile: false,
    isAvailable: false,
    inCinemas: '2026-11-25T00:00:00Z',
  })
  const { data, text } = await world.call('get_upcoming')
  expect(
    (data['items'] as { title: string; day: string; what: string }[]).map(one => [
      one.title,
      one.day,
      one.what,
    ]),
  ).toEqual([
    ['Severance S02E05 Tonight', 'Sun 22 Nov 2026', 'airs'],
    ['Severance S02E03 Late', 'Mon 23 Nov 2026', 'airs'],
    ['Wake (2026)', 'Wed 25 Nov 2026', 'in cinemas'],
  ])
  expect(text).toMatch(
    /^3 releases in the next 7 days, days and times in Europe\/Berlin:\nSun 22 Nov 2026:\n.*\nMon 23 Nov 2026:\n- "Severance S02E03 Late": airs at 23 Nov 2026 00:30/,
  )
})

test.each(['Pacific/Honolulu', 'America/New_York', 'Europe/Berlin', 'Pacific/Kiritimati'])(
  "get_upcoming in %s: a film's day is the day that Radarr tells, and today's is listed",
  async timezone => {
    await using world = await startMediaWorld({ ...direct, environment: { MEDIA_TIMEZONE: timezone } })
    const today = toDay(NOW, timezone)
    const days = [addDays(today, -1), today, addDays(today, 7), addDays(today, 8)]
    const film = { year: 2026, monitored: true, hasFile: false, isAvailable: false }
    world.radarr.state.movies = days.map((day, index) => ({
      ...film,
      id: index + 1,
      tmdbId: index + 1,
      title: `Film ${index}`,
      inCinemas: `${day}T00:00:00Z`,
    }))
    const { data } = await world.call('get_upcoming', { type: 'movie' })
    const items = data['items'] as { title: string; at: number; day: string }[]
    expect(items.map(({ title, day }) => [title, day])).toEqual([
      ['Film 1 (2026)', toDayText(NOW, timezone)],
      ['Film 2 (2026)', toDayText(NOW + 7 * 86_400_000, timezone)],
    ])
    expect(items.map(({ at }) => toDay(at, timezone))).toEqual([days[1], days[2]])
    expect(items.map(({ at }) => toDay(at - 1, timezone))).toEqual([days[0], addDays(today, 6)])
  },
)

test('a download of which Radarr does not know what it is is in the queue', async () => {
  await using world = await startMediaWorld(direct)
  world.radarr.state.queue.push(toQueueEntry({ id: 1, title: 'Unknown.Film.2026', status: 'warning' }))
  world.sonarr.state.queue.push(toQueueEntry({ id: 2, title: 'Unknown.Show.S01E01' }))
  const { text } = await world.call('get_requests')
  expect(text).toContain('"Unknown.Film.2026" (radarr): STUCK, stalled in the download client')
  expect(text).toContain('"Unknown.Show.S01E01" (sonarr)')
})

test('search_missing searches for no more than its limit, and only for what is missing', async () => {
  await using world = await startMediaWorld(direct)
  const { data } = await world.call('search_missing', { limit: 1 })
  expect(data).toMatchObject({ started: 2 })
  expect(world.radarr.state.commands).toEqual([{ name: 'MoviesSearch', movieIds: [2] }])
  expect(world.sonarr.state.commands).toEqual([{ name: 'EpisodeSearch', episodeIds: [22] }])
  expect((await world.call('search_missing', { title: 'Arrival' })).text).toContain(
    'Nothing that is monitored and out is missing in Radarr.',
  )
  expect(world.radarr.state.commands).toHaveLength(1)
})

test.each([
  ['JELLYFIN', 'change', 'stop_jellyfin_session', { session: 'sam', confirm: true }],
  ['JELLYFIN', 'read', 'refresh_library', {}],
  ['RADARR', 'read', 'request_movie', { title: 'The Matrix', via: 'radarr' }],
  ['SONARR', 'read', 'request_show', { title: 'Breaking Bad', via: 'sonarr' }],
  ['SEERR', 'read', 'request_movie', { title: 'Dune', year: 2021 }],
  ['RADARR', 'read', 'search_missing', {}],
])('%s_ACCESS "%s" keeps %s from changing anything', async (prefix, access, tool, args) => {
  await using world = await startMediaWorld({ environment: { [`${prefix}_ACCESS`]: access } })
  world.jellyfin.state.sessions.push(toTranscodingSession())
  const { isError, text } = await world.call(tool, args)
  expect(isError).toBe(true)
  expect(text).toContain(`${prefix}_ACCESS is "${access}"`)
  const labs = [world.jellyfin, world.radarr, world.sonarr, world.seerr]
  expect(labs.flatMap(lab => lab.requests).filter(({ route }) => route.startsWith('POST'))).toEqual([])
})

test('several of one, by name', async () => {
  await using other = await startMediaWorld()
  await using world = await startMediaWorld({
    ...direct,
    environment: { RADARR_4K_URL: other.radarr.url, RADARR_4K_API_KEY: other.radarr.apiKey },
  })
  const { text } = await world.call('request_movie', { title: 'The Matrix', instance: '4K' })
  expect(text).toContain('"The Matrix (1999)" was added to Radarr (4k)')
  expect(other.radarr.state.added).toHaveLength(1)
  const wrong = await world.call('request_movie', { title: 'The Matrix', instance: '8k' })
  expect(wrong.text).toContain('There is no Radarr called "8k"')
})

test('diagnose_media follows a title through everything', async () => {
  await using world = await startMediaWorld()
  const diagnose = async (title = 'Blade Runner 2049') => (await world.call('diagnose_media', { title })).data
  expect(await diagnose()).toMatchObject({ stoppedAt: 'found' })
  const { history, queue, movies } = world.radarr.state
  history.push({
    id: 1,
    movieId: 2,
    sourceTitle: 'Blade.Runner',
    date: '2026-11-22T03:00:00Z',
    eventType: 'grabbed',
    data: {},
  })
  expect(await diagnose()).toMatchObject({
    stoppedAt: 'downloaded',
    why: expect.stringContaining('in no queue any more'),
  })
  queue.push(toQueueEntry({ id: 1, title: 'Blade.Runner', movieId: 2 }))
  expect(await diagnose()).toMatchObject({ stoppedAt: 'downloaded', why: 'downloading, 75 %' })
  Object.assign(movies.find(({ id }) => id === 2) ?? {}, { hasFile: true })
  queue.length = 0
  expect(await diagnose()).toMatchObject({
    stoppedAt: 'in Jellyfin',
    fix: expect.stringContaining('refresh_library'),
  })
  expect((await diagnose('Arrival'))['stoppedAt']).toBeUndefined()
  world.radarr.state.health.push({
    id: 1,
    source: 'IndexerStatusCheck',
    type: 'error',
    message: 'All indexers are unavailable',
    wikiUrl: 'https://wiki.example/',
  })
  const whole = await world.call('diagnose_media')
  expect(whole.text).toContain('Radarr: it says "All indexers are unavailable"')
})

test('search_missing and diagnose_media ask back where several are called so', async () => {
  await using world = await startMediaWorld(direct)
  const { movies, commands } = world.radarr.state
  for (const movie of movies.filter(({ title }) => title === 'Dune'))
    Object.assign(movie, { id: movie.tmdbId })
  const searched = await world.call('search_missing', { title: 'dune' })
  expect(searched.data).toMatchObject({
    started: 0,
    results: [{ candidates: ['Dune (1984)', 'Dune (2021)'] }],
  })
  expect(searched.text).toContain('it may be one of "Dune (1984)", "Dune (2021)"')
  const diagnosed = await world.call('diagnose_media', { title: 'dune' })
  expect(diagnosed.data).toMatchObject({
    candidates: [
      { year: 1984, type: 'movie' },
      { year: 2021, type: 'movie' },
    ],
  })
  expect(commands).toEqual([])
  expect((await world.call('search_missing', { title: 'Dune (2021)' })).data).toMatchObject({ started: 1 })
})

test('diagnose_media takes what several Radarrs manage for the first, or for the one that is named', async () => {
  await using other = await startMediaWorld()
  await using world = await startMediaWorld({
    environment: { RADARR_4K_URL: other.radarr.url, RADARR_4K_API_KEY: other.radarr.apiKey },
  })
  const managedBy = async (args: object) => {
    const { data } = await world.call('diagnose_media', { title: 'Blade Runner 2049', ...args })
    return (data['stages'] as { detail: string }[])[1]?.detail
  }
  expect(await managedBy({})).toBe('Radarr looks after it')
  expect(await managedBy({ instance: '4k' })).toBe('Radarr (4k) looks after it')
  const wrong = await world.call('diagnose_media', { title: 'x', instance: '8k' })
  expect(wrong.text).toContain('There is no Radarr or Sonarr called "8k"')
})
