import { z } from 'zod'
import { requireAccess } from '../../kit/access.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { pickInstance } from '../../kit/instances.ts'
import { quote, toCountText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { sonarrSpec } from '../config.ts'
import { readWanted, type Wanted } from '../titles.ts'
import { choose } from '../upstreams/arr/arr.ts'
import { toTitle } from '../upstreams/arr/queue.ts'
import type { Series } from '../upstreams/arr/shapes.ts'
import { addSeries, findSeries, lookUpSeries } from '../upstreams/arr/shows.ts'
import type { Media } from '../upstreams/upstreams.ts'
import { CHANGE, toLines } from './common.ts'
import {
  chooseOne,
  decideVia,
  type RequestOutcome,
  requestInput,
  requestOutput,
  requestThroughSeerr,
  toSeasonsText,
} from './request.ts'

const input = z.strictObject({
  ...requestInput({ what: 'series', direct: 'sonarr', database: 'TVDB' }),
  seasons: z
    .array(z.int().min(0).max(200))
    .min(1)
    .max(100)
    .optional()
    .describe('0: specials; default: all but those'),
})

/** `request_show`: requests a series or some of its seasons, through Seerr or directly from Sonarr. */
export function requestShow(media: Media): Tool {
  return defineTool({
    name: 'request_show',
    title: 'Request a series',
    description:
      'Requests a series, or some seasons, so that it is downloaded: through Seerr where configured, else ' +
      'by adding it to Sonarr. Where several are called so, it only lists them to choose from (year or ' +
      'id). Nothing is added twice. Costs much disk space: ask for seasons where that does.',
    annotations: { ...CHANGE, openWorldHint: true },
    input,
    output: requestOutput,
    limit: 60_000,
    async run(args, signal) {
      const wanted = readWanted(args.title, args.year, args.id)
      const { instance, is4k, seasons } = args
      if (decideVia(media, args.via, 'sonarr', args) === 'seerr') {
        return requestThroughSeerr(media, 'tv', wanted, { instance, is4k, seasons }, signal)
      }
      return addToSonarr(media, wanted, args, signal)
    },
  })
}

async function addToSonarr(
  media: Media,
  wanted: Wanted,
  args: z.output<typeof input>,
  signal: AbortSignal,
): Promise<RequestOutcome> {
  const sonarr = pickInstance(media.sonarrs, args.instance, sonarrSpec)
  requireAccess(sonarr, 'change', 'Sonarr')
  const { upstream, name } = sonarr
  const term = wanted.id === undefined ? wanted.title : `tvdb:${wanted.id}`
  const found = await lookUpSeries(upstream, term, signal)
  const about = { via: 'sonarr' as const, instance: name, what: 'series', where: upstream.title }
  const chosen = chooseOne(wanted, found.map(toCandidate), about)
  if ('outcome' in chosen) return chosen.outcome
  const { series, title: plainTitle, year, id } = chosen.one
  const base = { via: 'sonarr' as const, instance: name, title: plainTitle, id, ...(year ? { year } : {}) }
  const title = quote(toTitle(plainTitle, year))
  const there = await findSeries(upstream, id, signal)
  if (there) {
    const state = toSeriesState(there, args.seasons)
    return {
      data: { outcome: 'exists', ...base, state },
      text: `Nothing was added: ${title} is in ${upstream.title} already, ${state}.`,
    }
  }
  requireSeasons(series, args.seasons, upstream.title)
  const choice = await choose(sonarr, args, signal)
  await addSeries(upstream, series, choice, { seasons: args.seasons, search: args.search }, signal)
  const which = args.seasons ? toSeasonsText(args.seasons) : 'all seasons'
  const state = `${which} monitored, ${args.search ? 'and being searched for' : 'not searched for yet'}`
  const data = {
    outcome: 'added' as const,
    ...base,
    state,
    qualityProfile: choice.profile.name,
    rootFolder: choice.rootFolder,
  }
  return {
    data,
    text: toLines(
      `${title} was added to ${upstream.title} with the quality profile ${quote(choice.profile.name, 60)} in ${quote(choice.rootFolder)}: ${state}.`,
      choice.notes,
    ),
  }
}

function requireSeasons(series: Series, seasons: readonly number[] | undefined, where: string): void {
  const known = series.seasons.map(one => one.seasonNumber)
  const missing = (seasons ?? []).filter(season => !known.includes(season))
  if (missing.length === 0) return
  throw new ToolFailure({
    what: `Nothing was added: ${quote(series.title)} has no ${toSeasonsText(missing)}.`,
    where,
    why: `it has ${toSeasonsText(known)}`,
    fix: 'Call it again with seasons that there are.',
  })
}

function toCandidate(series: Series) {
  return { series, id: series.tvdbId, title: series.title, year: series.year || undefined }
}

/** Returns the series' state: "monitored, with 40 of 42 episodes; season 3 not monitored". */
export function toSeriesState(series: Series, seasons: readonly number[] | undefined): string {
  const { episodeFileCount = 0, episodeCount = 0 } = series.statistics ?? {}
  const files = `with ${episodeFileCount} of ${toCountText(episodeCount, 'monitored episode')} there`
  const monitored = series.monitored ? 'monitored' : 'not monitored, so nothing is looked for'
  const wanted = series.seasons.filter(one =>
    seasons ? seasons.includes(one.seasonNumber) : one.seasonNumber > 0,
  )
  const left = wanted.filter(one => !one.monitored).map(one => one.seasonNumber)
  return `${monitored}, ${files}${left.length > 0 ? `; ${toSeasonsText(left)} not monitored` : ''}`
}
