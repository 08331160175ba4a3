import { z } from 'zod'
import { requireAccess } from '../../kit/access.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { pickInstance } from '../../kit/instances.ts'
import { quote } from '../../kit/text.ts'
import { seerrSpec } from '../config.ts'
import { type Candidate, type Choice, decideChoice, type Wanted } from '../titles.ts'
import { toTitle } from '../upstreams/arr/queue.ts'
import { type SeerrKind, type SeerrTitle, searchSeerr, sendRequest } from '../upstreams/seerr/seerr.ts'
import { decideRequestState, MEDIA, toRequestWords } from '../upstreams/seerr/states.ts'
import type { Media } from '../upstreams/upstreams.ts'
import { instanceField, titleField, titleOutput, toLines, yearField } from './common.ts'

/* The common parts of request_movie and request_show. */

const SHOWN = 8

/**
 * Returns the tools' common input. `direct` is Radarr or Sonarr, and `database` issues the ids that it uses.
 */
export const requestInput = (about: { what: string; direct: 'radarr' | 'sonarr'; database: string }) => ({
  title: titleField.describe('best with its year in parentheses'),
  year: yearField,
  id: z.int().positive().optional().describe('of a candidate that an earlier call listed'),
  via: z
    .enum(['seerr', about.direct])
    .optional()
    .describe(
      `default: seerr where configured. Only ${about.direct} takes qualityProfile, rootFolder and search (at once), only seerr is4k`,
    ),
  qualityProfile: z.string().min(1).max(100).optional(),
  rootFolder: z.string().min(1).max(500).optional(),
  search: z.boolean().default(true),
  is4k: z.boolean().default(false),
  instance: instanceField,
})

const candidate = z.object({ id: z.int(), title: titleOutput, year: z.int().optional() })

export const requestOutput = z.object({
  outcome: z
    .enum(['requested', 'added', 'exists', 'choose'])
    .describe(
      'requested through Seerr; added to Radarr or Sonarr; exists: nothing was done; choose: ask which is meant and call again with its id',
    ),
  via: z.enum(['seerr', 'radarr', 'sonarr']),
  instance: z.string(),
  title: titleOutput.optional(),
  year: z.int().optional(),
  id: z.int().optional().describe("TMDB's, or TVDB's via sonarr"),
  state: z.string().optional().describe('how it stands now, in words'),
  qualityProfile: titleOutput.optional(),
  rootFolder: titleOutput.optional(),
  candidates: z.array(candidate).optional(),
})
export type RequestData = z.input<typeof requestOutput>
export interface RequestOutcome {
  data: RequestData
  text: string
}

/**
 * Returns the title that is meant, else an outcome that lists the candidates. Throws a ToolFailure if there
 * are none.
 */
export function chooseOne<Found extends Candidate>(
  wanted: Wanted,
  found: readonly Found[],
  about: { via: RequestData['via']; instance: string; what: string; where: string },
): { one: Found } | { outcome: RequestOutcome } {
  const choice: Choice<Found> = decideChoice(wanted, found)
  const { via, instance, what, where } = about
  if (choice.kind === 'one') return { one: choice.found }
  const name = quote(toTitle(wanted.title, wanted.year))
  if (choice.kind === 'none') {
    throw new ToolFailure({
      what: `No ${what} called ${name} was found${wanted.id === undefined ? '' : ' with that id'}.`,
      where,
      why: 'its search on the web gave nothing that fits',
      fix: 'Check the spelling and the year, try the original title, or search with search_media.',
    })
  }
  const shown = choice.found.slice(0, SHOWN)
  const lines = shown.map(
    one => `${quote(toTitle(one.title, one.year))}, ${via === 'sonarr' ? 'tvdb' : 'tmdb'}:${one.id}`,
  )
  return {
    outcome: {
      data: {
        outcome: 'choose',
        via,
        instance,
        candidates: shown.map(({ id, title, year }) => ({ id, title, ...(year ? { year } : {}) })),
      },
      text: toLines(
        `Nothing was requested: ${name} may be one of ${choice.found.length}${choice.found.length > shown.length ? `, of which these are the first ${shown.length}` : ''}.`,
        lines,
        'Ask which is meant, then call it again with its year or id.',
      ),
    },
  }
}

/** Sends a request to Seerr, unless the title is available or requested already. */
export async function requestThroughSeerr(
  media: Media,
  kind: SeerrKind,
  wanted: Wanted,
  options: { instance: string | undefined; is4k: boolean; seasons?: readonly number[] | undefined },
  signal: AbortSignal,
): Promise<RequestOutcome> {
  const seerr = pickInstance(media.seerrs, options.instance, seerrSpec)
  requireAccess(seerr, 'change', 'Seerr')
  const found = await searchSeerr(seerr, kind, wanted.title, signal)
  const about = {
    via: 'seerr' as const,
    instance: seerr.name,
    what: kind === 'movie' ? 'film' : 'series',
    where: seerr.upstream.title,
  }
  const chosen = chooseOne(wanted, found, about)
  if ('outcome' in chosen) return chosen.outcome
  const { one } = chosen
  const base = {
    via: 'seerr' as const,
    instance: seerr.name,
    title: one.title,
    id: one.id,
    ...(one.year ? { year: one.year } : {}),
  }
  const title = quote(toTitle(one.title, one.year))
  const there = toExisting(one, kind, options)
  if (there) return toExists(base, title, there)
  const seasons = kind === 'tv' ? { seasons: options.seasons ?? ('all' as const) } : {}
  const body = { mediaType: kind, mediaId: one.id, is4k: options.is4k, ...seasons }
  const request = await sendRequest(seerr, body, signal)
  if (!request) return toExists(base, title, 'asked for already')
  const state = toRequestWords(decideRequestState(request))
  const which = options.seasons ? `, ${toSeasonsText(options.seasons)}` : ''
  return {
    data: { outcome: 'requested', ...base, state },
    text: `${title}${which} was requested through ${seerr.upstream.title}: ${state}.`,
  }
}

function toExists(base: Omit<RequestData, 'outcome'>, title: string, state: string): RequestOutcome {
  return { data: { outcome: 'exists', ...base, state }, text: `Nothing was requested: ${title} is ${state}.` }
}

/**
 * Returns why a request is not needed; a series that is partly available may still lack the requested
 * seasons.
 */
function toExisting(one: SeerrTitle, kind: SeerrKind, options: { is4k: boolean }): string | undefined {
  const status = options.is4k ? one.status4k : one.status
  if (status === MEDIA.available) return 'available already'
  if (kind === 'tv') return undefined
  if (status === MEDIA.pending) return 'asked for already and waits for approval'
  if (status === MEDIA.processing) return 'asked for already and on its way'
  return undefined
}

export function toSeasonsText(seasons: readonly number[]): string {
  return seasons.length === 1 ? `season ${seasons[0]}` : `seasons ${seasons.join(', ')}`
}

/** Decides how to send a request: the requested way, else Seerr if it is configured. */
export function decideVia<Direct extends 'radarr' | 'sonarr'>(
  media: Media,
  asked: 'seerr' | Direct | undefined,
  direct: Direct,
  choices: { qualityProfile?: string | undefined; rootFolder?: string | undefined; is4k: boolean },
): 'seerr' | Direct {
  const wantsDirect = choices.qualityProfile !== undefined || choices.rootFolder !== undefined
  const hasDirect = (direct === 'radarr' ? media.radarrs : media.sonarrs).length > 0
  const via = asked ?? (media.seerrs.length > 0 || !hasDirect ? 'seerr' : direct)
  const wrong = via === 'seerr' ? wantsDirect : choices.is4k
  if (!wrong) return via
  const title = direct === 'radarr' ? 'Radarr' : 'Sonarr'
  throw new ToolFailure({
    what: 'Nothing was requested: the arguments do not go together.',
    where: via === 'seerr' ? 'qualityProfile, rootFolder' : 'is4k',
    why:
      via === 'seerr'
        ? 'Seerr chooses the quality profile and the root folder by its own settings'
        : `${title} has no 4K of its own: another instance of it has`,
    fix:
      via === 'seerr'
        ? `Leave them out, or call it with via: ${direct}.`
        : 'Leave is4k out and name the instance.',
  })
}
