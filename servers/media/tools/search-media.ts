import { z } from 'zod'
import { page, pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import { toFacts } from '../../kit/render.ts'
import { quote, toCountText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { toPlain } from '../titles.ts'
import { type Arr, KIND_NAMES, KINDS, lookUp } from '../upstreams/arr/arr.ts'
import { toTitle } from '../upstreams/arr/queue.ts'
import { type Jellyfin, readItems } from '../upstreams/jellyfin/jellyfin.ts'
import type { Media } from '../upstreams/upstreams.ts'
import {
  gather,
  READ,
  titleField,
  titleOutput,
  toNoneConfigured,
  toUnknownLines,
  typeField,
  unknownField,
} from './common.ts'

const JELLYFIN_MOST = 50

const hit = z.object({
  title: titleOutput,
  type: z.enum(['movie', 'show']),
  year: z.int().optional(),
  tmdbId: z.int().optional(),
  tvdbId: z.int().optional(),
  inJellyfin: z.array(z.string()).describe('the Jellyfins that have it'),
  managedBy: z.array(z.string()).describe('the Radarrs or Sonarrs that look after it'),
})
type Hit = z.input<typeof hit>

const output = z.object({ items: z.array(hit), ...pageOutput, unknown: unknownField })

const input = z.strictObject({
  query: titleField,
  type: typeField,
  onlyOwned: z.boolean().default(false).describe('only what is here already'),
  ...pageFields(10, 100),
})
type Args = z.output<typeof input>

/** `search_media`: films and series by title, and where each one exists. */
export function searchMedia({ jellyfins, arrs }: Media): Tool {
  return defineTool({
    name: 'search_media',
    title: 'Search media',
    description:
      'Searches films and series by title, in Jellyfin and on the web through Radarr and Sonarr: whether ' +
      'Jellyfin has each, and who looks after it. For "do we have …", or the exact title and year before ' +
      'request_movie and request_show.',
    annotations: { ...READ, openWorldHint: true },
    input,
    output,
    async run(args, signal) {
      const { query, type, onlyOwned } = args
      const kinds = KIND_NAMES.filter(kind => type === undefined || KINDS[kind].type === type)
      const asked = [...jellyfins, ...arrs.filter(({ kind }) => kinds.includes(kind))]
      if (asked.length === 0) {
        const titles = ['Jellyfin', ...kinds.map(kind => KINDS[kind].spec.title)]
        throw toNoneConfigured(titles, 'there is nothing to search')
      }
      const { found, unknown } = await gather(asked, signal, one =>
        one.kind === 'jellyfin' ? searchJellyfin(one, args, signal) : searchArr(one, query, signal),
      )
      const isOwned = (one: Hit) => one.inJellyfin.length + one.managedBy.length > 0
      const part = page(
        merge(found.flat()).filter(one => !onlyOwned || isOwned(one)),
        args,
      )
      const head =
        part.total > 0
          ? `${toCountText(part.total, 'title')} for ${quote(query)}:`
          : `Nothing was found for ${quote(query)}.`
      const text = [head, part.items.map(toLine), toMoreText(part, 'title'), toUnknownLines(unknown)]
      return { data: { ...part, unknown }, text }
    },
  })
}

async function searchJellyfin(
  jellyfin: Jellyfin,
  { query, type }: Args,
  signal: AbortSignal,
): Promise<Hit[]> {
  const types = [
    ...(type === 'show' ? [] : ['Movie' as const]),
    ...(type === 'movie' ? [] : ['Series' as const]),
  ]
  const { items } = await readItems(jellyfin, { search: query, types, limit: JELLYFIN_MOST }, signal)
  return items.map(({ Name: title, Type, ProductionYear: year, ProviderIds: ids }) => ({
    title: title ?? 'something without a name',
    type: Type === 'Series' ? 'show' : 'movie',
    ...toNumbers({ year, tmdbId: Number(ids?.['Tmdb']), tvdbId: Number(ids?.['Tvdb']) }),
    inJellyfin: [jellyfin.upstream.title],
    managedBy: [],
  }))
}

async function searchArr(arr: Arr, query: string, signal: AbortSignal): Promise<Hit[]> {
  const found = await lookUp(arr, query, signal)
  return found.map(({ id, title, year, tmdbId, tvdbId }) => ({
    title,
    type: KINDS[arr.kind].type,
    ...toNumbers({ year, tmdbId, tvdbId }),
    inJellyfin: [],
    managedBy: id ? [arr.upstream.title] : [],
  }))
}

/** Omits numbers that are 0, which means unknown in all of these programs, or none. */
function toNumbers(numbers: Record<'year' | 'tmdbId' | 'tvdbId', number | null | undefined>) {
  const { year, tmdbId, tvdbId } = numbers
  return { year: year || undefined, tmdbId: tmdbId || undefined, tvdbId: tvdbId || undefined }
}

/** Merges the hits of one title, owned titles first, in the order of the upstreams. */
function merge(hits: readonly Hit[]): Hit[] {
  const merged: Hit[] = []
  for (const one of hits) {
    const at = merged.findIndex(other => isSame(one, other))
    const other = merged[at]
    if (!other) merged.push(one)
    else {
      merged[at] = {
        ...other,
        year: other.year ?? one.year,
        tmdbId: other.tmdbId ?? one.tmdbId,
        tvdbId: other.tvdbId ?? one.tvdbId,
        inJellyfin: [...new Set([...other.inJellyfin, ...one.inJellyfin])],
        managedBy: [...new Set([...other.managedBy, ...one.managedBy])],
      }
    }
  }
  const owned = (one: Hit) => Number(one.inJellyfin.length > 0) * 2 + Number(one.managedBy.length > 0)
  return merged.sort((a, b) => owned(b) - owned(a))
}

/** Compares by an id that both have, else by name and year. */
function isSame(a: Hit, b: Hit): boolean {
  if (a.type !== b.type) return false
  if (a.tvdbId && b.tvdbId) return a.tvdbId === b.tvdbId
  if (a.tmdbId && b.tmdbId) return a.tmdbId === b.tmdbId
  return a.year === b.year && toPlain(a.title) === toPlain(b.title)
}

function toLine(one: Hit): string {
  const where = toFacts([
    one.inJellyfin.length > 0 && `in ${one.inJellyfin.join(' and ')}`,
    one.managedBy.length > 0 && `looked after by ${one.managedBy.join(' and ')}`,
  ])
  return `${quote(toTitle(one.title, one.year))} (${one.type === 'movie' ? 'film' : 'series'}): ${where || 'not here yet'}`
}
