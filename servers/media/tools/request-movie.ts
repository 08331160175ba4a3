import { z } from 'zod'
import { requireAccess } from '../../kit/access.ts'
import { pickInstance } from '../../kit/instances.ts'
import { quote } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { radarrSpec } from '../config.ts'
import { readWanted, type Wanted } from '../titles.ts'
import { choose } from '../upstreams/arr/arr.ts'
import { addMovie, findMovie, lookUpMovies } from '../upstreams/arr/movies.ts'
import { toTitle } from '../upstreams/arr/queue.ts'
import type { Movie } from '../upstreams/arr/shapes.ts'
import type { Media } from '../upstreams/upstreams.ts'
import { CHANGE, toLines } from './common.ts'
import {
  chooseOne,
  decideVia,
  type RequestOutcome,
  requestInput,
  requestOutput,
  requestThroughSeerr,
} from './request.ts'

const input = z.strictObject(requestInput({ what: 'film', direct: 'radarr', database: 'TMDB' }))

/** `request_movie`: requests a film, through Seerr or directly from Radarr. */
export function requestMovie(media: Media): Tool {
  return defineTool({
    name: 'request_movie',
    title: 'Request a film',
    description:
      'Requests a film, so that it is downloaded: through Seerr where configured, else by adding it to ' +
      'Radarr. Where several are called so, it only lists them to choose from (year or id). Nothing is ' +
      'added twice. Costs disk space: only when somebody wants the film.',
    annotations: { ...CHANGE, openWorldHint: true },
    input,
    output: requestOutput,
    limit: 60_000,
    async run(args, signal) {
      const wanted = readWanted(args.title, args.year, args.id)
      const { instance, is4k } = args
      if (decideVia(media, args.via, 'radarr', args) === 'seerr') {
        return requestThroughSeerr(media, 'movie', wanted, { instance, is4k }, signal)
      }
      return addToRadarr(media, wanted, args, signal)
    },
  })
}

async function addToRadarr(
  media: Media,
  wanted: Wanted,
  args: z.output<typeof input>,
  signal: AbortSignal,
): Promise<RequestOutcome> {
  const radarr = pickInstance(media.radarrs, args.instance, radarrSpec)
  requireAccess(radarr, 'change', 'Radarr')
  const { upstream, name } = radarr
  const term = wanted.id === undefined ? toTitle(wanted.title, wanted.year) : `tmdb:${wanted.id}`
  const found = await lookUpMovies(upstream, term, signal)
  const about = { via: 'radarr' as const, instance: name, what: 'film', where: upstream.title }
  const chosen = chooseOne(wanted, found.map(toCandidate), about)
  if ('outcome' in chosen) return chosen.outcome
  const { movie, title: plainTitle, year, id } = chosen.one
  const base = { via: 'radarr' as const, instance: name, title: plainTitle, id, ...(year ? { year } : {}) }
  const title = quote(toTitle(plainTitle, year))
  const there = await findMovie(upstream, id, signal)
  if (there) {
    const state = toMovieState(there)
    return {
      data: { outcome: 'exists', ...base, state },
      text: `Nothing was added: ${title} is in ${upstream.title} already, ${state}.`,
    }
  }
  const choice = await choose(radarr, args, signal)
  await addMovie(upstream, movie, choice, args.search, signal)
  const state = args.search ? 'monitored, and being searched for' : 'monitored, not searched for yet'
  return {
    data: {
      outcome: 'added',
      ...base,
      state,
      qualityProfile: choice.profile.name,
      rootFolder: choice.rootFolder,
    },
    text: toLines(
      `${title} was added to ${upstream.title} with the quality profile ${quote(choice.profile.name, 60)} in ${quote(choice.rootFolder)}: ${state}.`,
      choice.notes,
    ),
  }
}

function toCandidate(movie: Movie) {
  return { movie, id: movie.tmdbId, title: movie.title, year: movie.year || undefined }
}

/** Returns the film's state: "monitored, without a file yet". */
export function toMovieState(movie: Movie): string {
  const monitored = movie.monitored ? 'monitored' : 'not monitored, so it is not looked for'
  const file = movie.hasFile
    ? 'with a file'
    : movie.isAvailable === false
      ? 'without a file and not released yet'
      : 'without a file yet'
  return `${monitored}, ${file}`
}
