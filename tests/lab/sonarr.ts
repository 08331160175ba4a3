import {
  type ArrState,
  commonRoutes,
  findMissing,
  isListed,
  LANGUAGE,
  refusal,
  refuseWithout,
  toArrState,
  toDescribedCommand,
  toPage,
} from './arr.ts'
import { type CheckedLab, type CheckedOptions, type Routes, startChecked } from './checked.ts'

const KEY = 'lab-sonarr-key-0123456789abcdef'

export interface LabEpisode {
  id: number
  seriesId: number
  seasonNumber: number
  episodeNumber: number
  title: string
  airDateUtc: string
  hasFile: boolean
  monitored: boolean
}

export interface LabSeries {
  /** 0 if only the web knows it. */
  id: number
  title: string
  year: number
  tvdbId: number
  tmdbId: number
  monitored: boolean
  seasons: { seasonNumber: number; monitored: boolean }[]
}

export interface Sonarr extends CheckedLab {
  readonly apiKey: string
  readonly state: ArrState & {
    /** Series that the web knows; those with an id are in Sonarr. */
    series: LabSeries[]
    episodes: LabEpisode[]
    /** Bodies of the additions. */
    added: Record<string, unknown>[]
  }
}

const web = (title: string, year: number, tvdbId: number, tmdbId: number, seasons = 3): LabSeries => ({
  id: 0,
  title,
  year,
  tvdbId,
  tmdbId,
  monitored: false,
  seasons: Array.from({ length: seasons + 1 }, (_, seasonNumber) => ({
    seasonNumber,
    monitored: seasonNumber > 0,
  })),
})

const episode = (
  id: number,
  seasonNumber: number,
  episodeNumber: number,
  day: string,
  hasFile: boolean,
): LabEpisode => ({
  id,
  seriesId: 1,
  seasonNumber,
  episodeNumber,
  title: `Chapter ${episodeNumber}`,
  airDateUtc: `${day}T20:00:00Z`,
  hasFile,
  monitored: true,
})

/** Starts a Sonarr with one series, of which an episode is missing, and a web that knows a few more. */
export async function startSonarr(options: CheckedOptions = {}): Promise<Sonarr> {
  const state: Sonarr['state'] = {
    ...toArrState('tv'),
    series: [
      { ...web('Severance', 2022, 371980, 95396, 2), id: 1, monitored: true },
      web('Breaking Bad', 2008, 81189, 1396, 5),
      web('The Office (US)', 2005, 73244, 2316, 9),
      web('The Office', 2001, 78107, 2996, 2),
    ],
    episodes: [
      episode(11, 1, 1, '2022-02-18', true),
      episode(12, 1, 2, '2022-02-25', true),
      episode(21, 2, 1, '2025-01-17', true),
      episode(22, 2, 2, '2025-01-24', false),
    ],
    added: [],
  }
  const lab = await startChecked({
    ...options,
    refuse: refuseWithout(KEY),
    routes: { ...commonRoutes(state, { title: 'Sonarr', version: '4.0.19.2979' }), ...toRoutes(state) },
    toDescribed: toDescribedCommand,
  })
  return { ...lab, apiKey: KEY, state }
}

function toRoutes(state: Sonarr['state']): Routes {
  const managed = () => state.series.filter(series => series.id > 0)
  const find = (id: number | undefined) => managed().find(series => series.id === id)
  const withSeries = (episode: LabEpisode) => {
    const series = find(episode.seriesId)
    return { ...toEpisode(episode), ...(series ? { series: toResource(state, series) } : {}) }
  }
  return {
    'GET /api/v3/series': ({ url }) => {
      const tvdbId = url.searchParams.get('tvdbId')
      const wanted = managed().filter(series => tvdbId === null || series.tvdbId === Number(tvdbId))
      return { body: wanted.map(series => toResource(state, series)) }
    },
    'GET /api/v3/series/lookup': ({ url }) => ({
      body: lookUp(state.series, url.searchParams.get('term') ?? '').map(one => toResource(state, one)),
    }),
    'POST /api/v3/series': ({ json }) => add(state, json as Record<string, unknown>),
    'GET /api/v3/episode': ({ url }) => {
      const id = Number(url.searchParams.get('seriesId'))
      return { body: state.episodes.filter(one => one.seriesId === id).map(toEpisode) }
    },
    'GET /api/v3/wanted/missing': ({ url }) =>
      toPage(url, state.episodes.filter(one => one.monitored && !one.hasFile).map(withSeries)),
    'GET /api/v3/calendar': ({ url }) => {
      const [start, end] = ['start', 'end'].map(name => Date.parse(url.searchParams.get(name) ?? ''))
      const isDue = (at: number) => at >= (start ?? 0) && at <= (end ?? 0)
      return { body: state.episodes.filter(one => isDue(Date.parse(one.airDateUtc))).map(withSeries) }
    },
    'GET /api/v3/queue': ({ url }) =>
      toPage(
        url,
        state.queue
          .filter(entry => isListed(url, entry.seriesId, 'Series'))
          .map(entry => {
            const series = find(entry.seriesId)
            const episode = state.episodes.find(({ id }) => id === entry.episodeId)
            return {
              ...entry,
              ...(series ? { series: toResource(state, series) } : {}),
              ...(episode ? { episode: toEpisode(episode) } : {}),
            }
          }),
      ),
    'GET /api/v3/history/series': ({ url }) => {
      const id = Number(url.searchParams.get('seriesId'))
      return { body: state.history.filter(record => record.seriesId === id) }
    },
  }
}

function add(state: Sonarr['state'], json: Record<string, unknown>) {
  const refused = findMissing(
    json,
    state.folders.map(({ path }) => path),
  )
  if (refused) return refused
  const series = state.series.find(({ tvdbId }) => tvdbId === json['tvdbId'])
  if (!series) return refusal('TvdbId', 'A series with this ID was not found')
  if (series.id > 0) return refusal('TvdbId', 'This series has already been added')
  state.added.push(json)
  const seasons = json['seasons'] as LabSeries['seasons']
  Object.assign(series, { id: state.series.length + 10, monitored: json['monitored'] === true, seasons })
  return { status: 201, body: toResource(state, series) }
}

/** Finds series by "office" or "tvdb:73244". */
function lookUp(series: readonly LabSeries[], term: string): LabSeries[] {
  const id = /^tvdb:(\d+)$/.exec(term)?.[1]
  if (id) return series.filter(one => one.tvdbId === Number(id))
  return series.filter(one => one.title.toLowerCase().includes(term.toLowerCase()))
}

function toEpisode(episode: LabEpisode) {
  const { id, airDateUtc, hasFile } = episode
  return {
    ...episode,
    tvdbId: 5_000_000 + id,
    episodeFileId: hasFile ? id : 0,
    airDate: airDateUtc.slice(0, 10),
    runtime: 50,
  }
}

function toResource({ episodes }: Sonarr['state'], { id, ...series }: LabSeries) {
  const own = id > 0 ? episodes.filter(one => one.seriesId === id) : []
  const files = own.filter(one => one.hasFile).length
  const slug = series.title.toLowerCase().replace(/[^a-z]+/g, '-')
  const known = {
    ...series,
    alternateTitles: [],
    sortTitle: series.title.toLowerCase(),
    status: 'continuing',
    ended: false,
    overview: 'A series of the lab.',
    images: [{ coverType: 'poster', remoteUrl: `https://images.example/${slug}.jpg` }],
    originalLanguage: LANGUAGE,
    qualityProfileId: id > 0 ? 4 : 0,
    seasonFolder: true,
    monitorNewItems: 'all',
    runtime: 50,
    firstAired: `${series.year}-01-20T00:00:00Z`,
    seriesType: 'standard',
    titleSlug: slug,
    genres: ['Drama'],
    tags: [],
    added: id > 0 ? '2026-01-18T18:57:21Z' : '0001-01-01T00:00:00Z',
    statistics: {
      seasonCount: series.seasons.length - 1,
      episodeFileCount: files,
      episodeCount: own.length,
      totalEpisodeCount: own.length,
      sizeOnDisk: files * 2_000_000_000,
      percentOfEpisodes: own.length > 0 ? (files / own.length) * 100 : 0,
    },
  }
  return id > 0 ? { ...known, id, path: `/mnt/large/tv/${series.title}` } : known
}
