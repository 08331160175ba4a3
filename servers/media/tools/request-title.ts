import { requireAccess } from '../../kit/access.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { pickInstance } from '../../kit/instances.ts'
import { quote } from '../../kit/text.ts'
import { seerrSpec } from '../config.ts'
import { readWanted, type Wanted } from '../titles.ts'
import { type Arr, KINDS } from '../upstreams/arr/arr.ts'
import { toTitle } from '../upstreams/arr/queue.ts'
import { type SeerrKind, type SeerrTitle, searchSeerr, sendRequest } from '../upstreams/seerr/seerr.ts'
import { decideRequestState, MEDIA, toRequestWords } from '../upstreams/seerr/states.ts'
import type { Media } from '../upstreams/upstreams.ts'
import { addToArr } from './add-to-arr.ts'
import {
  chooseOne,
  type RequestArgs,
  type RequestData,
  type RequestOutcome,
  toSeasonsText,
} from './request.ts'

/** Requests a film (`direct` is radarr) or a series, through Seerr if it is configured, else directly. */
export async function requestTitle(
  media: Media,
  direct: Arr['kind'],
  args: RequestArgs,
  signal: AbortSignal,
): Promise<RequestOutcome> {
  const wanted = readWanted(args.title, args.year, args.id)
  return decideVia(media, direct, args) === 'seerr'
    ? requestThroughSeerr(media, direct, wanted, args, signal)
    : addToArr(media, direct, wanted, args, signal)
}

/** Decides how to send a request: the requested way, else Seerr if it is configured. */
function decideVia(media: Media, direct: Arr['kind'], args: RequestArgs): 'seerr' | Arr['kind'] {
  const hasDirect = media.arrs.some(({ kind }) => kind === direct)
  const via = args.via ?? (media.seerrs.length > 0 || !hasDirect ? 'seerr' : direct)
  const wantsDirect = args.qualityProfile !== undefined || args.rootFolder !== undefined
  if (!(via === 'seerr' ? wantsDirect : args.is4k)) return via
  const what = 'Nothing was requested: the arguments do not go together.'
  if (via === 'seerr') {
    throw new ToolFailure({
      what,
      where: 'qualityProfile, rootFolder',
      why: 'Seerr chooses the quality profile and the root folder by its own settings',
      fix: `Leave them out, or call it with via: ${direct}.`,
    })
  }
  throw new ToolFailure({
    what,
    where: 'is4k',
    why: `${KINDS[direct].spec.title} has no 4K of its own: another instance of it has`,
    fix: 'Leave is4k out and name the instance.',
  })
}

/** Sends a request to Seerr, unless the title is available or requested already. */
async function requestThroughSeerr(
  media: Media,
  direct: Arr['kind'],
  wanted: Wanted,
  { instance, is4k, seasons }: RequestArgs,
  signal: AbortSignal,
): Promise<RequestOutcome> {
  const seerr = pickInstance(media.seerrs, instance, seerrSpec)
  requireAccess(seerr, 'change')
  const where = seerr.upstream.title
  const via = { via: 'seerr' as const, instance: seerr.name }
  const mediaType: SeerrKind = direct === 'radarr' ? 'movie' : 'tv'
  const found = await searchSeerr(seerr, mediaType, wanted.title, signal)
  const chosen = chooseOne(wanted, found, { ...via, what: KINDS[direct].what, where })
  if ('outcome' in chosen) return chosen.outcome
  const { id, title, year } = chosen.one
  const name = quote(toTitle(title, year))
  const toOutcome = (outcome: RequestData['outcome'], state: string, text: string): RequestOutcome => ({
    data: { outcome, ...via, title, id, year, state },
    text: `${text} ${state}.`,
  })
  const exists = (state: string) => toOutcome('exists', state, `Nothing was requested: ${name} is`)
  const there = toExisting(chosen.one, mediaType, is4k)
  if (there) return exists(there)
  const all = mediaType === 'tv' ? { seasons: seasons ?? ('all' as const) } : {}
  const body = { mediaType, mediaId: id, is4k, ...all } as const
  const request = await sendRequest(seerr, body, signal)
  if (!request) return exists('asked for already')
  const which = seasons ? `, ${toSeasonsText(seasons)}` : ''
  const state = toRequestWords(decideRequestState(request))
  return toOutcome('requested', state, `${name}${which} was requested through ${where}:`)
}

/**
 * Returns why a request is not needed; a series that is partly available may still lack the requested
 * seasons.
 */
function toExisting(one: SeerrTitle, kind: SeerrKind, is4k: boolean): string | undefined {
  const status = is4k ? one.status4k : one.status
  if (status === MEDIA.available) return 'available already'
  if (kind === 'tv') return undefined
  if (status === MEDIA.pending) return 'asked for already and waits for approval'
  if (status === MEDIA.processing) return 'asked for already and on its way'
  return undefined
}
