import { z } from 'zod'
import { requireAccess } from '../../kit/access.ts'
import { parseTime } from '../../kit/clock.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { type Text, toListText } from '../../kit/render.ts'
import { quote, toCountText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { readWanted } from '../titles.ts'
import {
  type Arr,
  findNamed,
  readEpisodes,
  readMissing,
  type Searchable,
  startSearch,
  toSearchable,
} from '../upstreams/arr/arr.ts'
import { toTitle } from '../upstreams/arr/queue.ts'
import type { Title } from '../upstreams/arr/shapes.ts'
import type { Media } from '../upstreams/upstreams.ts'
import {
  CHANGE,
  gather,
  instanceField,
  pickArrs,
  titleField,
  titleOutput,
  toUnknownLines,
  typeField,
  unknownField,
  yearField,
} from './common.ts'

const SHOWN = 20

const searched = z.object({
  instance: z.string(),
  program: z.string().describe('Radarr or Sonarr, as it is called here'),
  searching: z.array(titleOutput).describe('what is searched for now'),
  missing: z.int().describe('monitored, out and without a file, in all'),
  candidates: z
    .array(titleOutput)
    .optional()
    .describe(
      'several are called so and nothing was searched for: call again with one of these titles and its year',
    ),
  note: z.string().optional(),
})
type Searched = z.input<typeof searched>

const output = z.object({
  started: z.int().describe('searches begun'),
  results: z.array(searched),
  unknown: unknownField,
})

const input = z.strictObject({
  title: titleField.optional().describe('default: the newest of all'),
  year: yearField,
  type: typeField,
  limit: z.int().min(1).max(100).default(10).describe('of each Radarr and Sonarr'),
  instance: instanceField.describe('default: all'),
})
type Args = z.output<typeof input>

/** `search_missing`: makes Radarr and Sonarr search for monitored titles without files. */
export function searchMissing({ arrs, clock }: Media): Tool {
  return defineTool({
    name: 'search_missing',
    title: 'Search for what is missing',
    description:
      'Has Radarr and Sonarr search for what is monitored but missing, one title or the newest, and ' +
      'downloads what is found; get_requests then shows it. Each search uses up what indexers allow a day. ' +
      'It adds nothing: request_movie and request_show do.',
    annotations: { ...CHANGE, openWorldHint: true },
    input,
    output,
    limit: 60_000,
    async run(args, signal) {
      const picked = pickArrs(arrs, args, 'nothing can be searched for')
      for (const arr of picked) requireAccess(arr, 'change')
      const { found, unknown } = await gather(picked, signal, arr => search(arr, args, clock.now(), signal))
      const results = found.filter(one => one !== undefined)
      if (results.length === 0) throw toNotManaged(args, unknown.length > 0)
      const started = results.reduce((sum, one) => sum + one.searching.length, 0)
      const text = [results.map(toText), toUnknownLines(unknown)]
      const untrusted = started + unknown.length > 0 || results.some(one => one.candidates)
      return { data: { started, results, unknown }, text, untrusted }
    },
  })
}

/** Starts a search; undefined if the program does not manage the title. */
async function search(
  arr: Arr,
  { title, year, limit }: Args,
  now: number,
  signal: AbortSignal,
): Promise<Searched | undefined> {
  const start = async (items: readonly Searchable[], missing: number) => {
    const ids = items.map(({ id }) => id)
    await startSearch(arr, ids, signal)
    const searching = items.map(one => one.title)
    return { instance: arr.name, program: arr.upstream.title, searching, missing }
  }
  if (title === undefined) {
    const { items, total } = await readMissing(arr, limit, signal)
    return start(items, total)
  }
  const managed = await findNamed(arr, readWanted(title, year), signal)
  const [one] = managed
  if (!one) return undefined
  if (managed.length > 1) {
    const candidates = managed.map(other => toTitle(other.title, other.year)).slice(0, SHOWN)
    return { ...(await start([], 0)), candidates }
  }
  const missing = await findMissing(arr, one, now, signal)
  return { ...(await start(missing.slice(0, limit), missing.length)), note: toNote(arr, one, missing.length) }
}

/** Returns the film if it has no file, or the monitored episodes that have aired without one, latest first. */
async function findMissing(arr: Arr, one: Title, now: number, signal: AbortSignal): Promise<Searchable[]> {
  const id = one.id ?? 0
  if (arr.kind === 'radarr') return one.hasFile ? [] : [{ id, title: toTitle(one.title, one.year) }]
  const episodes = await readEpisodes(arr, id, signal)
  return episodes
    .map(episode => ({ ...episode, series: one, aired: parseTime(episode.airDateUtc) ?? Infinity }))
    .filter(({ monitored, hasFile, aired }) => monitored && !hasFile && aired <= now)
    .sort((a, b) => b.aired - a.aired)
    .map(toSearchable)
}

function toNote({ kind }: Arr, { title, year, monitored }: Title, missing: number): string | undefined {
  const name = quote(toTitle(title, year))
  if (monitored) return undefined
  if (kind === 'sonarr') return `${name} is not monitored, so Sonarr does not look for it by itself.`
  return missing > 0 ? `Not monitored, so it is searched for only this once: ${name}.` : undefined
}

function toText({ program, searching, missing, candidates, note }: Searched): Text {
  if (candidates) {
    const list = candidates.map(title => quote(title)).join(', ')
    return `Nothing was searched for in ${program}: it may be one of ${list}. Call it again with the full title and year.`
  }
  if (searching.length === 0) return [`Nothing that is monitored and out is missing in ${program}.`, note]
  const shown = toListText(searching, SHOWN, title => quote(title))
  const left = missing - searching.length
  return [
    `${program} searches for ${toCountText(searching.length, 'title')}: ${shown}.`,
    left > 0 &&
      `${toCountText(left, 'more title')} ${left > 1 ? 'are' : 'is'} missing; a larger limit searches for more.`,
    note,
  ]
}

function toNotManaged({ title = '', year }: Args, isPartial: boolean): ToolFailure {
  return new ToolFailure({
    what: `Nothing was searched for: ${quote(toTitle(title, year))} is in no Radarr and no Sonarr here.`,
    where: 'the libraries of Radarr and Sonarr',
    why: isPartial ? 'it is in none of those that answered' : 'nothing that they manage is called so',
    fix: 'Check the spelling with search_media, or ask for it with request_movie or request_show.',
  })
}
