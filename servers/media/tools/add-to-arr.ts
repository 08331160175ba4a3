import { requireAccess } from '../../kit/access.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { pickInstance } from '../../kit/instances.ts'
import { quote, toCountText } from '../../kit/text.ts'
import type { Wanted } from '../titles.ts'
import { type Arr, addTitle, findManaged, KINDS, lookUp, toDatabaseId } from '../upstreams/arr/arr.ts'
import { choose } from '../upstreams/arr/choose.ts'
import { toTitle } from '../upstreams/arr/queue.ts'
import type { Title } from '../upstreams/arr/shapes.ts'
import type { Media } from '../upstreams/upstreams.ts'
import { chooseOne, type RequestArgs, type RequestOutcome, toSeasonsText } from './request.ts'

/** Adds a film to Radarr or a series to Sonarr, unless it is there. */
export async function addToArr(
  media: Media,
  kind: Arr['kind'],
  wanted: Wanted,
  args: RequestArgs,
  signal: AbortSignal,
): Promise<RequestOutcome> {
  const { spec, what, database } = KINDS[kind]
  const arr = pickInstance(
    media.arrs.filter(one => one.kind === kind),
    args.instance,
    spec,
  )
  requireAccess(arr, 'change')
  const where = arr.upstream.title
  const via = { via: kind, instance: arr.name }
  // Radarr's lookup understands a year, and Sonarr's does not.
  const name = kind === 'radarr' ? toTitle(wanted.title, wanted.year) : wanted.title
  const found = await lookUp(arr, wanted.id === undefined ? name : `${database}:${wanted.id}`, signal)
  const candidates = found.map(one => ({
    one,
    id: toDatabaseId(arr, one),
    title: one.title,
    year: one.year || undefined,
  }))
  const chosen = chooseOne(wanted, candidates, { ...via, what, where })
  if ('outcome' in chosen) return chosen.outcome
  const { one, id, title, year } = chosen.one
  const base = { ...via, title, id, year }
  const quoted = quote(toTitle(title, year))
  const there = await findManaged(arr, id, signal)
  if (there) {
    const state = kind === 'radarr' ? toMovieState(there) : toSeriesState(there, args.seasons)
    const text = `Nothing was added: ${quoted} is in ${where} already, ${state}.`
    return { data: { outcome: 'exists', ...base, state }, text }
  }
  if (kind === 'sonarr') requireSeasons(one, args.seasons, where)
  const { profile, rootFolder, notes } = await choose(arr, args, signal)
  await addTitle(arr, one, { profile, rootFolder }, args, signal)
  const state = toAddedState(kind, args)
  return {
    data: { outcome: 'added', ...base, state, qualityProfile: profile.name, rootFolder },
    text: [
      `${quoted} was added to ${where} with the quality profile ${quote(profile.name, 60)} in ${quote(rootFolder)}: ${state}.`,
      notes,
    ],
  }
}

function toAddedState(kind: Arr['kind'], { seasons, search }: RequestArgs): string {
  if (kind === 'radarr')
    return search ? 'monitored, and being searched for' : 'monitored, not searched for yet'
  const which = seasons ? toSeasonsText(seasons) : 'all seasons'
  return `${which} monitored, ${search ? 'and being searched for' : 'not searched for yet'}`
}

function requireSeasons(series: Title, seasons: readonly number[] | undefined, where: string): void {
  const known = (series.seasons ?? []).map(one => one.seasonNumber)
  const missing = (seasons ?? []).filter(season => !known.includes(season))
  if (missing.length === 0) return
  throw new ToolFailure({
    what: `Nothing was added: ${quote(series.title)} has no ${toSeasonsText(missing)}.`,
    where,
    why: `it has ${toSeasonsText(known)}`,
    fix: 'Call it again with seasons that there are.',
  })
}

/** Returns the film's state: "monitored, without a file yet". */
function toMovieState({ monitored, hasFile, isAvailable }: Title): string {
  const isWatched = monitored ? 'monitored' : 'not monitored, so it is not looked for'
  if (hasFile) return `${isWatched}, with a file`
  return `${isWatched}, ${isAvailable === false ? 'without a file and not released yet' : 'without a file yet'}`
}

/** Returns the series' state: "monitored, with 40 of 42 episodes; season 3 not monitored". */
function toSeriesState(series: Title, seasons: readonly number[] | undefined): string {
  const { episodeFileCount = 0, episodeCount = 0 } = series.statistics ?? {}
  const files = `with ${episodeFileCount} of ${toCountText(episodeCount, 'monitored episode')} there`
  const monitored = series.monitored ? 'monitored' : 'not monitored, so nothing is looked for'
  const left = (series.seasons ?? [])
    .filter(one => (seasons ? seasons.includes(one.seasonNumber) : one.seasonNumber > 0) && !one.monitored)
    .map(one => one.seasonNumber)
  return `${monitored}, ${files}${left.length > 0 ? `; ${toSeasonsText(left)} not monitored` : ''}`
}
