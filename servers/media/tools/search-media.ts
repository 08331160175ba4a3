import { z } from 'zod'
import { page, pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import { quote, toCountText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { toPlain } from '../titles.ts'
import { lookUpMovies } from '../upstreams/arr/movies.ts'
import { toTitle } from '../upstreams/arr/queue.ts'
import type { Movie, Series } from '../upstreams/arr/shapes.ts'
import { lookUpSeries } from '../upstreams/arr/shows.ts'
import { type Jellyfin, readItems } from '../upstreams/jellyfin/jellyfin.ts'
import type { Item } from '../upstreams/jellyfin/shapes.ts'
import type { Media } from '../upstreams/upstreams.ts'
import {
  type Asked,
  gather,
  READ,
  titleField,
  titleOutput,
  toLines,
  toNoneConfigured,
  toUnknownLines,
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
  type: z.enum(['movie', 'show']).optional(),
  onlyOwned: z.boolean().default(false).describe('only what is here already'),
  ...pageFields(10, 100),
})
type Args = z.output<typeof input>

/** `search_media`: films and series by title, and where each one exists. */
export function searchMedia(media: Media): Tool {
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
      const { found, unknown } = await gather(toAsked(media, args, signal), signal)
      const merged = merge(found.flat())
      const part = page(
        merged.filter(one => !args.onlyOwned || one.inJellyfin.length + one.managedBy.length > 0),
        args,
      )
      const head =
        part.total > 0
          ? `${toCountText(part.total, 'title')} for ${quote(args.query)}:`
          : `Nothing was found for ${quote(args.query)}.`
      const text = toLines(head, part.items.map(toLine), toMoreText(part, 'title'), toUnknownLines(unknown))
      return { data: { ...part, unknown }, text }
    },
  })
}

function toAsked({ jellyfins, radarrs, sonarrs }: Media, args: Args, signal: AbortSignal): Asked<Hit[]>[] {
  const { query, type } = args
  const asked = [
    ...jellyfins.map(jellyfin => ({
      upstream: jellyfin.upstream.title,
      ask: () => searchJellyfin(jellyfin, args, signal),
    })),
    ...(type === 'show' ? [] : radarrs).map(({ upstream }) => ({
      upstream: upstream.title,
      ask: async () =>
        (await lookUpMovies(upstream, query, signal)).map(one => fromMovie(upstream.title, one)),
    })),
    ...(type === 'movie' ? [] : sonarrs).map(({ upstream }) => ({
      upstream: upstream.title,
      ask: async () =>
        (await lookUpSeries(upstream, query, signal)).map(one => fromSeries(upstream.title, one)),
    })),
  ]
  if (asked.length > 0) return asked
  const titles = ['Jellyfin', ...(type === 'show' ? [] : ['Radarr']), ...(type === 'movie' ? [] : ['Sonarr'])]
  throw toNoneConfigured(
    titles,
    titles.map(title => `${title.toUpperCase()}_URL`),
    'there is nothing to search',
  )
}

async function searchJellyfin(
  jellyfin: Jellyfin,
  { query, type }: Args,
  signal: AbortSignal,
): Promise<Hit[]> {
  const types =
    type === undefined
      ? (['Movie', 'Series'] as const)
      : type === 'movie'
        ? (['Movie'] as const)
        : (['Series'] as const)
  const { items } = await readItems(jellyfin, { search: query, types, limit: JELLYFIN_MOST }, signal)
  return items.map(item => fromItem(jellyfin.upstream.title, item))
}

function fromItem(name: string, item: Item): Hit {
  const ids = item.ProviderIds ?? {}
  return {
    title: item.Name ?? 'something without a name',
    type: item.Type === 'Series' ? 'show' : 'movie',
    ...withNumber('year', item.ProductionYear),
    ...withNumber('tmdbId', Number(ids['Tmdb'])),
    ...withNumber('tvdbId', Number(ids['Tvdb'])),
    inJellyfin: [name],
    managedBy: [],
  }
}

function fromMovie(name: string, movie: Movie): Hit {
  return {
    title: movie.title,
    type: 'movie',
    ...withNumber('year', movie.year),
    ...withNumber('tmdbId', movie.tmdbId),
    inJellyfin: [],
    managedBy: movie.id ? [name] : [],
  }
}

function fromSeries(name: string, series: Series): Hit {
  return {
    title: series.title,
    type: 'show',
    ...withNumber('year', series.year),
    ...withNumber('tmdbId', series.tmdbId),
    ...withNumber('tvdbId', series.tvdbId),
    inJellyfin: [],
    managedBy: series.id ? [name] : [],
  }
}

/** Returns the field, unless the number is 0, which means unknown in all of these programs. */
function withNumber<Key extends string>(
  key: Key,
  value: number | null | undefined,
): { [Name in Key]?: number } {
  return value ? ({ [key]: value } as { [Name in Key]: number }) : {}
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
        ...one,
        ...other,
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
  const where = [
    one.inJellyfin.length > 0 ? `in ${one.inJellyfin.join(' and ')}` : undefined,
    one.managedBy.length > 0 ? `looked after by ${one.managedBy.join(' and ')}` : undefined,
  ].filter(text => text !== undefined)
  const state = where.length > 0 ? where.join(', ') : 'not here yet'
  return `${quote(toTitle(one.title, one.year))} (${one.type === 'movie' ? 'film' : 'series'}): ${state}`
}
