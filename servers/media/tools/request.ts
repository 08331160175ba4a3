import { z } from 'zod'
import { ToolFailure } from '../../kit/failure.ts'
import type { Text } from '../../kit/render.ts'
import { quote } from '../../kit/text.ts'
import { type Candidate, decideChoice, type Wanted } from '../titles.ts'
import { type Arr, KINDS } from '../upstreams/arr/arr.ts'
import { toTitle } from '../upstreams/arr/queue.ts'
import { instanceField, titleField, titleOutput, yearField } from './common.ts'

/* The common parts of request_movie and request_show. */

const SHOWN = 8

/** Returns the tools' common input; `direct` is the program besides Seerr. */
export const requestInput = <Direct extends Arr['kind']>(direct: Direct) => ({
  title: titleField.describe('best with its year in parentheses'),
  year: yearField,
  id: z.int().positive().optional().describe('of a candidate that an earlier call listed'),
  via: z
    .enum(['seerr', direct])
    .optional()
    .describe(
      `default: seerr where configured. Only ${direct} takes qualityProfile, rootFolder and search (at once), only seerr is4k`,
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
  text: Text
}

/** The arguments of both tools; only a series has seasons. */
export type RequestArgs = z.output<z.ZodObject<ReturnType<typeof requestInput<Arr['kind']>>>> & {
  seasons?: readonly number[] | undefined
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
  const choice = decideChoice(wanted, found)
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
  const all = choice.found.length
  const shown = choice.found.slice(0, SHOWN)
  const candidates = shown.map(({ id, title, year }) => ({ id, title, year }))
  const database = KINDS[via === 'sonarr' ? 'sonarr' : 'radarr'].database
  const lines = shown.map(one => `${quote(toTitle(one.title, one.year))}, ${database}:${one.id}`)
  const text = [
    `Nothing was requested: ${name} may be one of ${all}${all > shown.length ? `, of which these are the first ${shown.length}` : ''}.`,
    lines,
    'Ask which is meant, then call it again with its year or id.',
  ]
  return { outcome: { data: { outcome: 'choose', via, instance, candidates }, text } }
}

export function toSeasonsText(seasons: readonly number[]): string {
  return seasons.length === 1 ? `season ${seasons[0]}` : `seasons ${seasons.join(', ')}`
}
