import { UNCONFIGURED } from '../../schemas/health.ts'
import type { DashboardTile, House, Tile } from '../../schemas/house.ts'
import { TILE_KEY } from '../../schemas/house.ts'
import { markOf, type ToolClass } from '../../schemas/power.ts'
import { type Clock, timeoutSignal } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { isObject, type JsonObject } from '../core/forwarding.ts'
import { stripControl, truncate } from '../core/text.ts'
import { type AgentFact, factsBeginning } from '../store/context.ts'
import type { Store } from '../store/open.ts'
import { TILE_SPECS, type TileSpec } from './tile-specs.ts'
import { furtherValues, toTile } from './to-tile.ts'

/** Milliseconds that somebody waits for tools; what takes longer is shown by the next reading. */
const PATIENCE = 4_000
/** Milliseconds after which a call is given up. */
const LIMIT = 60_000
/** Milliseconds that the reading of a tool without a spec is good for. */
const DEFAULT_EVERY = 10_000
/** Milliseconds until a tool is asked again that failed or has nothing to show. */
const AGAIN = 30_000
const LONGEST_TEXT = 4_000

export interface HouseDeps {
  store: Pick<Store, 'db'>
  clock: Clock
  servers: {
    readonly catalogue: { tool(name: string): { server: string } | undefined }
    status(): readonly { name: string; state: string; error?: string }[]
    call(name: string, args: JsonObject, options: { signal: AbortSignal }): Promise<JsonObject>
  }
  describeTool: (name: string) => { toolClass: ToolClass } | undefined
  config: { readonly current: { readonly dashboard: { readonly tiles: readonly DashboardTile[] } } }
}

/** A tool with its arguments, whose result is one tile. */
interface Source {
  id: string
  tool: string
  arguments: JsonObject
  spec?: TileSpec | undefined
  title?: string | undefined
}

/** The last tile of a source, and until when it is good. */
interface Reading {
  tile: Tile | undefined
  further: string[]
  goodUntil: number
  running?: Promise<void> | undefined
}

/**
 * Creates the reader of the house. Nothing runs unless somebody reads; readers at the same time share one call of each
 * tool, and a slow or broken tool harms its own tile alone.
 */
export function createHouse(deps: HouseDeps): () => Promise<House> {
  const readings = new Map<string, Reading>()

  function start(source: Source): Reading {
    const now = deps.clock.monotonic()
    const known = readings.get(source.id)
    if (known && (known.running || now < known.goodUntil)) return known
    const reading: Reading = known ?? { tile: undefined, further: [], goodUntil: 0 }
    readings.set(source.id, reading)
    reading.running = readSource(deps, source, reading.tile).then(({ tile, further }) => {
      reading.tile = tile
      reading.further = further
      const every = tile?.state === 'ok' ? (source.spec?.every ?? DEFAULT_EVERY) : AGAIN
      reading.goodUntil = deps.clock.monotonic() + every
      reading.running = undefined
    })
    return reading
  }

  return async () => {
    const patience = timeoutSignal(deps.clock, PATIENCE, 'The house')
    const isOver = new Promise<void>(resolve => patience.signal.addEventListener('abort', () => resolve()))
    const readAll = async (sources: readonly Source[]) => {
      await Promise.race([Promise.all(sources.map(source => start(source).running)), isOver])
    }
    try {
      const sources = listSources(deps)
      await readAll(sources)
      const all = sources.flatMap(source => [source, ...furtherSources(source, readings.get(source.id))])
      await readAll(all)
      const facts = await factsBeginning(deps.store.db, TILE_KEY)
      const ids = new Set(all.map(({ id }) => id))
      for (const id of readings.keys()) if (!ids.has(id)) readings.delete(id)
      const tiles = all.flatMap(source => present(source, readings.get(source.id)))
      return { tiles: [...missingServers(deps), ...tiles, ...facts.map(toFactTile)] }
    } finally {
      patience.cancel()
    }
  }
}

function listSources({ servers, config }: HouseDeps): Source[] {
  const own = TILE_SPECS.filter(({ server, tool }) => servers.catalogue.tool(tool)?.server === server)
  return [
    ...own.map(spec => ({ id: spec.tool, tool: spec.tool, arguments: spec.arguments ?? {}, spec })),
    ...config.current.dashboard.tiles.map(({ tool, arguments: args, title }, index) => {
      const spec = own.find(each => each.tool === tool)
      return { id: `config-${index}-${JSON.stringify([tool, args])}`, tool, arguments: args, spec, title }
    }),
  ]
}

function furtherSources({ id, spec, ...source }: Source, reading: Reading | undefined): Source[] {
  const { each } = spec ?? {}
  if (!each || !reading || each.argument in source.arguments) return []
  return reading.further.map(value => ({
    ...source,
    spec,
    id: `${id} ${value}`,
    arguments: { ...source.arguments, [each.argument]: value },
  }))
}

/** Returns tiles for the built-in servers that have a tile and are down: their tools may never have been listed. */
function missingServers({ servers }: HouseDeps): Tile[] {
  const missing = TILE_SPECS.filter(({ tool }) => servers.catalogue.tool(tool) === undefined)
  const names = new Set(missing.map(({ server }) => server))
  return servers
    .status()
    .filter(({ name, state }) => names.has(name) && (state === 'down' || state === 'starting'))
    .map(({ name, state, error }) => ({
      id: `server ${name}`,
      title: name,
      source: name,
      state: state === 'down' ? 'failed' : 'waiting',
      rows: [],
      ...(error === undefined ? {} : { reason: error }),
    }))
}

/** Calls a source's tool; never rejects. `before` is the tile of the last reading. */
async function readSource(
  deps: HouseDeps,
  source: Source,
  before: Tile | undefined,
): Promise<{ tile: Tile | undefined; further: string[] }> {
  const deadline = timeoutSignal(deps.clock, LIMIT, source.tool)
  const base = toBase(source, before)
  try {
    refuseChanges(deps, source.tool)
    const result = await deps.servers.call(source.tool, source.arguments, { signal: deadline.signal })
    const meta = result['_meta']
    if (isObject(meta) && meta[UNCONFIGURED] === true) return { tile: undefined, further: [] }
    if (result['isError'] === true) {
      const reason = textOf(result) || `${source.tool} failed`
      return { tile: { ...base, state: 'failed', reason }, further: [] }
    }
    return { tile: toShown(deps.clock.now(), source, result), further: toFurther(source, result) }
  } catch (error) {
    return { tile: { ...base, state: 'failed', reason: describeError(error) }, further: [] }
  } finally {
    deadline.cancel()
  }
}

function toFurther({ spec }: Source, result: JsonObject): string[] {
  return spec ? furtherValues(spec, result['structuredContent']) : []
}

/** Throws where a tool is not there or does more than read. */
function refuseChanges({ describeTool, servers }: HouseDeps, tool: string): void {
  if (!servers.catalogue.tool(tool)) throw new Error(`There is no tool ${tool}`)
  if (describeTool(tool)?.toolClass !== 'look')
    throw new Error(`${tool} does not only read: the house calls no such tool`)
}

function toBase({ id, tool, title, spec, arguments: args }: Source, before: Tile | undefined): Tile {
  const value = spec?.each && args[spec.each.argument]
  const named = title ?? (typeof value === 'string' ? value : spec ? spec.title.split('|').at(-1) : tool)
  return { ...(before ?? { id, title: named ?? tool, source: tool, rows: [] }), state: 'waiting' }
}

function toShown(at: number, source: Source, result: JsonObject): Tile | undefined {
  const { reason: _, ...base } = toBase(source, undefined)
  if (!source.spec) return { ...base, state: 'ok', at, text: textOf(result) }
  const filled = toTile(source.spec, result['structuredContent'])
  return filled && { ...base, ...filled, ...(source.title ? { title: source.title } : {}), state: 'ok', at }
}

function present(source: Source, reading: Reading | undefined): Tile[] {
  if (!reading) return []
  if (reading.running && !reading.tile) return [toBase(source, undefined)]
  return reading.tile ? [reading.tile] : []
}

function toFactTile({ agent, key, value, at, power }: AgentFact): Tile {
  return {
    id: `${agent} ${key}`,
    title: key.slice(TILE_KEY.length),
    source: agent,
    state: 'ok',
    at,
    rows: [],
    text: truncate(stripControl(value), LONGEST_TEXT),
    ...markOf(power),
  }
}

function textOf(result: JsonObject): string {
  const content = Array.isArray(result['content']) ? result['content'] : []
  const texts = content.map(block =>
    isObject(block) && typeof block['text'] === 'string' ? block['text'] : '',
  )
  return truncate(stripControl(texts.filter(Boolean).join('\n')), LONGEST_TEXT)
}
