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

const KEY = 'lab-radarr-key-0123456789abcdef'

export interface LabMovie {
  /** 0 if only the web knows it. */
  id: number
  title: string
  year: number
  tmdbId: number
  monitored: boolean
  hasFile: boolean
  isAvailable: boolean
  digitalRelease?: string
  inCinemas?: string
}

export interface Radarr extends CheckedLab {
  readonly apiKey: string
  readonly state: ArrState & {
    /** Films that the web knows; those with an id are in Radarr. */
    movies: LabMovie[]
    /** Bodies of the additions. */
    added: Record<string, unknown>[]
  }
}

const web = (title: string, year: number, tmdbId: number): LabMovie => ({
  id: 0,
  title,
  year,
  tmdbId,
  monitored: false,
  hasFile: false,
  isAvailable: true,
  digitalRelease: `${year}-06-01T00:00:00Z`,
})

/** Starts a Radarr with two films, one of which is missing, and a web that knows a few more. */
export async function startRadarr(options: CheckedOptions = {}): Promise<Radarr> {
  const state: Radarr['state'] = {
    ...toArrState('movies'),
    movies: [
      web('Dune', 1984, 841),
      web('Dune', 2021, 438631),
      web('Dune: Part Two', 2024, 693134),
      web('The Matrix', 1999, 603),
      web('Matrix', 1973, 94152),
      web("Schindler's List", 1993, 424),
      { ...web('Arrival', 2016, 329865), id: 1, monitored: true, hasFile: true },
      { ...web('Blade Runner 2049', 2017, 335984), id: 2, monitored: true },
    ],
    added: [],
  }
  const lab = await startChecked({
    ...options,
    refuse: refuseWithout(KEY),
    routes: { ...commonRoutes(state, { title: 'Radarr', version: '6.3.0.10514' }), ...toRoutes(state) },
    toDescribed: toDescribedCommand,
  })
  return { ...lab, apiKey: KEY, state }
}

function toRoutes(state: Radarr['state']): Routes {
  const managed = () => state.movies.filter(movie => movie.id > 0)
  const find = (id: number | undefined) => managed().find(movie => movie.id === id)
  return {
    'GET /api/v3/movie': ({ url }) => {
      const tmdbId = url.searchParams.get('tmdbId')
      const wanted = managed().filter(movie => tmdbId === null || movie.tmdbId === Number(tmdbId))
      return { body: wanted.map(toResource) }
    },
    'GET /api/v3/movie/lookup': ({ url }) => ({
      body: lookUp(state.movies, url.searchParams.get('term') ?? '').map(toResource),
    }),
    'POST /api/v3/movie': ({ json }) => add(state, json as Record<string, unknown>),
    'GET /api/v3/wanted/missing': ({ url }) =>
      toPage(
        url,
        managed()
          .filter(one => one.monitored && !one.hasFile && one.isAvailable)
          .map(toResource),
      ),
    'GET /api/v3/calendar': ({ url }) => ({
      body: managed()
        .filter(movie => isWithin(url, movie.inCinemas) || isWithin(url, movie.digitalRelease))
        .map(toResource),
    }),
    'GET /api/v3/queue': ({ url }) =>
      toPage(
        url,
        state.queue
          .filter(entry => isListed(url, entry.movieId, 'Movie'))
          .map(entry => {
            const movie = find(entry.movieId)
            return { ...entry, ...(movie ? { movie: toResource(movie) } : {}) }
          }),
      ),
    'GET /api/v3/history/movie': ({ url }) => {
      const id = Number(url.searchParams.get('movieId'))
      return { body: state.history.filter(record => record.movieId === id) }
    },
  }
}

function add(state: Radarr['state'], json: Record<string, unknown>) {
  const refused = findMissing(
    json,
    state.folders.map(({ path }) => path),
  )
  if (refused) return refused
  const movie = state.movies.find(({ tmdbId }) => tmdbId === json['tmdbId'])
  if (!movie) return refusal('TmdbId', 'A movie with this ID was not found')
  if (movie.id > 0) return refusal('TmdbId', 'This movie has already been added')
  state.added.push(json)
  Object.assign(movie, { id: state.movies.length + 10, monitored: json['monitored'] === true })
  return { status: 201, body: toResource(movie) }
}

/** Finds films by "dune", "dune (2021)" or "tmdb:841". */
function lookUp(movies: readonly LabMovie[], term: string): LabMovie[] {
  const id = /^tmdb:(\d+)$/.exec(term)?.[1]
  if (id) return movies.filter(movie => movie.tmdbId === Number(id))
  const [, words = '', year] = /^(.*?)(?: \((\d{4})\))?$/.exec(term.toLowerCase()) ?? []
  return movies.filter(
    movie => movie.title.toLowerCase().includes(words) && (year === undefined || movie.year === Number(year)),
  )
}

function isWithin(url: URL, date: string | undefined): boolean {
  const at = Date.parse(date ?? '')
  const [start, end] = ['start', 'end'].map(name => Date.parse(url.searchParams.get(name) ?? ''))
  return at >= (start ?? 0) && at <= (end ?? 0)
}

function toResource({ id, ...movie }: LabMovie) {
  const slug = String(movie.tmdbId)
  const known = {
    ...movie,
    originalTitle: movie.title,
    originalLanguage: LANGUAGE,
    alternateTitles: [],
    sortTitle: movie.title.toLowerCase(),
    status: movie.isAvailable ? 'released' : 'announced',
    overview: 'A film of the lab.',
    images: [{ coverType: 'poster', remoteUrl: `https://images.example/${slug}.jpg` }],
    runtime: 120,
    qualityProfileId: id > 0 ? 4 : 0,
    minimumAvailability: 'released',
    cleanTitle: movie.title.toLowerCase().replaceAll(' ', ''),
    titleSlug: slug,
    genres: ['Drama'],
    tags: [],
    added: id > 0 ? '2026-01-18T18:57:21Z' : '0001-01-01T00:00:00Z',
    sizeOnDisk: movie.hasFile ? 8_000_000_000 : 0,
  }
  return id > 0 ? { ...known, id, path: `/mnt/large/movies/${movie.title} (${movie.year})` } : known
}
