import { z } from 'zod'
import { parseTime } from '../../kit/clock.ts'
import { foreignText } from '../../kit/foreign.ts'
import { pickInstance } from '../../kit/instances.ts'
import { pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import type { Text } from '../../kit/render.ts'
import { quote, toAgeText, toCountText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { seerrSpec } from '../config.ts'
import { type Arr, readQueue } from '../upstreams/arr/arr.ts'
import { decideQueueState, toDone, toQueueTitle, toTitle } from '../upstreams/arr/queue.ts'
import { readRequests, readSeerrTitle, type Seerr, type SeerrKind } from '../upstreams/seerr/seerr.ts'
import type { SeerrRequest } from '../upstreams/seerr/shapes.ts'
import {
  decideRequestState,
  type RequestState,
  toRequester,
  toRequestWords,
} from '../upstreams/seerr/states.ts'
import type { Media } from '../upstreams/upstreams.ts'
import {
  gather,
  instanceField,
  READ,
  titleOutput,
  toNoneConfigured,
  toUnknownLines,
  toWhy,
  unknownField,
} from './common.ts'
import { toSeasonsText } from './request.ts'

const QUEUE_SHOWN = 20
const AT_ONCE = 5
/** Our filters, which are Seerr's own. */
const FILTERS = ['all', 'pending', 'approved', 'processing', 'available', 'unavailable', 'failed'] as const

const requestOutput = z.object({
  title: titleOutput,
  type: z.enum(['movie', 'show']),
  year: z.int().optional(),
  seasons: z.array(z.int()).optional(),
  is4k: z.boolean(),
  state: z
    .string()
    .describe('pending, approved, processing, partially_available, available, declined, failed'),
  requestedBy: foreignText(100),
  requestedAt: z.number().optional().describe('unix milliseconds'),
})

const downloadOutput = z.object({
  title: titleOutput,
  instance: z.string(),
  state: z.string().describe('in words'),
  percent: z.number().optional(),
  stuck: z.boolean().describe('true: somebody must look at it'),
  reason: foreignText(400, 'why, as Radarr or Sonarr say it').optional(),
})

const output = z.object({
  instance: z.string().optional().describe('the Seerr; absent where none is configured'),
  requests: z.array(requestOutput),
  ...pageOutput,
  downloads: z
    .array(downloadOutput)
    .describe('the queues of Radarr and Sonarr, what is stuck first, at most 20'),
  downloadsTotal: z.int(),
  unknown: unknownField,
})
type Data = z.input<typeof output>

const input = z.strictObject({
  state: z.enum(FILTERS).default('all'),
  ...pageFields(20, 100),
  instance: instanceField,
})

/** `get_requests`: the requests, and the progress of each. */
export function getRequests({ seerrs, arrs, clock }: Media): Tool {
  return defineTool({
    name: 'get_requests',
    title: 'Media requests',
    description:
      'What people requested through Seerr and how each stands, and the queues of Radarr and Sonarr with ' +
      'why something is stuck. For "what was requested" or "where is my film"; diagnose_media says more ' +
      'about one title.',
    annotations: READ,
    input,
    output,
    async run(args, signal) {
      if (seerrs.length + arrs.length === 0) {
        throw toNoneConfigured(['Seerr', 'Radarr', 'Sonarr'], 'there are no requests to look at')
      }
      const seerr =
        seerrs.length > 0 || args.instance ? pickInstance(seerrs, args.instance, seerrSpec) : undefined
      const { requests, total } = seerr ? await readPage(seerr, args, signal) : { requests: [], total: 0 }
      const queues = await readQueues(arrs, signal, seerr !== undefined)
      const page = { total, offset: args.offset, more: args.offset + requests.length < total }
      const data: Data = { instance: seerr?.name, requests, ...page, ...queues }
      const more = toMoreText({ items: requests, ...page }, 'request')
      return {
        data,
        text: toText(data, more, clock.now()),
        untrusted: requests.length + queues.downloads.length + queues.unknown.length > 0,
      }
    },
  })
}

async function readPage(
  seerr: Seerr,
  { state, limit, offset }: z.output<typeof input>,
  signal: AbortSignal,
): Promise<{ requests: Data['requests']; total: number }> {
  const found = await readRequests(seerr, { filter: state, take: limit, skip: offset }, signal)
  const requests: Data['requests'] = []
  for (let at = 0; at < found.requests.length; at += AT_ONCE) {
    const part = found.requests.slice(at, at + AT_ONCE)
    requests.push(...(await Promise.all(part.map(one => toRequest(seerr, one, signal)))))
  }
  return { requests, total: found.total }
}

async function toRequest(
  seerr: Seerr,
  request: SeerrRequest,
  signal: AbortSignal,
): Promise<Data['requests'][number]> {
  const kind: SeerrKind = (request.type ?? request.media?.mediaType) === 'tv' ? 'tv' : 'movie'
  const id = request.media?.tmdbId
  // A title that has disappeared from the web must not hide the others.
  const about = id ? await readSeerrTitle(seerr, kind, id, signal).catch(() => undefined) : undefined
  signal.throwIfAborted()
  const seasons = (request.seasons ?? []).map(one => one.seasonNumber)
  return {
    title: about?.title ?? 'a title that Seerr does not know any more',
    type: kind === 'tv' ? 'show' : 'movie',
    year: about?.year || undefined,
    seasons: seasons.length > 0 ? seasons : undefined,
    is4k: request.is4k ?? false,
    state: decideRequestState(request),
    requestedBy: toRequester(request),
    requestedAt: parseTime(request.createdAt),
  }
}

/** Reads the queues. A failure is reported with the result; it is thrown only if there is no result. */
async function readQueues(
  arrs: readonly Arr[],
  signal: AbortSignal,
  isEnough: boolean,
): Promise<Pick<Data, 'downloads' | 'downloadsTotal' | 'unknown'>> {
  const queues = gather(arrs, signal, async arr => ({ name: arr.name, ...(await readQueue(arr, signal)) }))
  const { found, unknown } = await queues.catch(error => {
    signal.throwIfAborted()
    if (!isEnough) throw error
    return {
      found: [],
      unknown: arrs.map(({ upstream: { title } }) => ({ upstream: title, why: toWhy(error, title) })),
    }
  })
  const downloads = found
    .flatMap(({ name: instance, items }) =>
      items.map(item => {
        return { title: toQueueTitle(item), instance, ...decideQueueState(item), percent: toDone(item) }
      }),
    )
    .sort((a, b) => Number(b.stuck) - Number(a.stuck))
  return {
    downloads: downloads.slice(0, QUEUE_SHOWN),
    downloadsTotal: found.reduce((sum, one) => sum + Math.max(one.total, one.items.length), 0),
    unknown,
  }
}

function toText(data: Data, more: string | undefined, now: number): Text {
  const { instance, requests, downloads, downloadsTotal, unknown } = data
  const head =
    instance === undefined
      ? 'Seerr is not configured, so there are only downloads.'
      : `${toCountText(data.total, 'request')}:`
  return [
    requests.length > 0 || instance === undefined ? head : 'There are no such requests.',
    requests.map(one => toRequestLine(one, now)),
    more,
    downloads.length > 0 && ['Downloads of Radarr and Sonarr:', downloads.map(toDownloadLine)],
    downloadsTotal > downloads.length &&
      `${downloads.length} of ${downloadsTotal} downloads are listed, those that are stuck first.`,
    downloads.length + unknown.length === 0 && instance === undefined && 'Nothing is being downloaded.',
    toUnknownLines(unknown),
  ]
}

function toRequestLine(one: Data['requests'][number], now: number): string {
  const seasons = one.seasons ? `, ${toSeasonsText(one.seasons)}` : ''
  const when = one.requestedAt === undefined ? '' : ` ${toAgeText(one.requestedAt, now)}`
  const words = toRequestWords(one.state as RequestState)
  return `${quote(toTitle(one.title, one.year))}${seasons}${one.is4k ? ' in 4K' : ''}: ${words}; asked for by ${quote(one.requestedBy, 60)}${when}`
}

function toDownloadLine(one: Data['downloads'][number]): string {
  const percent = one.percent === undefined ? '' : `, ${one.percent} %`
  const reason = one.reason === undefined ? '' : `: ${quote(one.reason, 300)}`
  return `${quote(one.title)} (${one.instance}): ${one.stuck ? 'STUCK, ' : ''}${one.state}${percent}${reason}`
}
