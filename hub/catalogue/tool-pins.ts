import { createHash } from 'node:crypto'
import type { Tool } from '@modelcontextprotocol/client'
import type { ChangedTool } from '../../schemas/hub-status.ts'
import type { NewEvent } from '../../schemas/inbox.ts'
import { strictest, type ToolClass } from '../../schemas/power.ts'
import { type Clock, dayOf } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import type { NewId } from '../core/ids.ts'
import { toCanonicalJson, withoutNul } from '../core/json.ts'
import type { Log } from '../core/log.ts'
import { truncate } from '../core/text.ts'
import { type AuditEntry, record } from '../store/audit-log.ts'
import type { Store } from '../store/open.ts'
import type { ToolPinRow } from '../store/tables.ts'
import { deleteToolPins, readToolPins, saveToolPins } from '../store/tool-pins.ts'
import type { CatalogueTool } from './catalogue.ts'
import { declaredClass } from './model-tool.ts'
import { toToolName } from './names.ts'
import type { Servers } from './servers.ts'

/** The parts of a definition that are compared: those that a model or the policy reads. */
const PARTS = ['title', 'description', 'inputSchema', 'annotations'] as const
/** The most characters of a part that are kept, to be shown. */
const LONGEST_SHOWN = 300
/** The most characters of a name; a longer one is cut with a hash. */
const LONGEST_NAME = 200
/** The most tools of one server that are remembered, with those that it lists no longer; others ask. */
const MOST_PINS = 2_000

type Parts = Partial<Record<(typeof PARTS)[number], { hash: string; text: string }>>

interface ToolPinsDeps {
  store: Store
  clock: Clock
  newId: NewId
  log: Log
  timezone: string
}

type Publish = (event: NewEvent) => Promise<unknown>
type Looked = Pick<Servers, 'catalogue' | 'specOf' | 'settled' | 'status'>

/** Reads the pins of the last run. The opener disposes of them. */
export async function openToolPins(deps: ToolPinsDeps, publish: Publish): Promise<ToolPins> {
  return new ToolPins(deps, publish, await readToolPins(deps.store.db))
}

/** The pins hold what other people's servers listed before; each listing is compared with them. */
export class ToolPins implements AsyncDisposable {
  readonly #deps: ToolPinsDeps
  readonly #publish: Publish
  /** The pins by server and tool. */
  readonly #pins: Map<string, Map<string, ToolPinRow>>
  /** The pin of each listed definition; a tool beyond `MOST_PINS` has none. */
  readonly #pinOf = new WeakMap<Tool, ToolPinRow>()
  /** Pins of servers that were removed, for an undo of that. */
  readonly #forgotten = new Map<string, Map<string, ToolPinRow>>()
  readonly #undone = new Set<string>()
  #looked: readonly CatalogueTool[] = []
  #writing: Promise<unknown> = Promise.resolve()

  constructor(deps: ToolPinsDeps, publish: Publish, rows: readonly ToolPinRow[]) {
    this.#deps = deps
    this.#publish = publish
    const byServer = Map.groupBy(rows, ({ server }) => server)
    this.#pins = new Map([...byServer].map(([server, own]) => [server, new Map(own.map(byTool))]))
  }

  /** Compares the tools of the catalogue with their pins, and forgets servers that were removed. */
  look(servers: Looked): void {
    const { store } = this.#deps
    for (const [server, pins] of this.#pins) {
      if (!isGone(servers, server)) continue
      this.#forgotten.set(server, pins)
      this.#pins.delete(server)
      void this.#write(() => store.write(tx => deleteToolPins(tx, server)))
    }
    const { tools } = servers.catalogue
    if (tools === this.#looked) return
    this.#looked = tools
    for (const [server, listed] of Map.groupBy(tools, tool => tool.server)) {
      if (servers.specOf(server)?.trust !== 'own') this.#compare(server, listed)
    }
  }

  /** Has the pins of a removed server hold again once it lists its tools. */
  bringBack(server: string): void {
    this.#undone.add(server)
  }

  /** Returns why every call of a listed tool needs a person's yes; undefined if none does. */
  readonly risenOf = (definition: Tool): string | undefined => {
    const pin = this.#pinOf.get(definition)
    if (!pin) return `its server has listed more tools than the hub remembers (${MOST_PINS})`
    if (pin.risen_to === null) return undefined
    const day = dayOf(pin.risen_at ?? 0, this.#deps.timezone)
    return `its server changed it from ${pin.class} to ${pin.risen_to} on ${day}; superbloom servers accept ${pin.server} takes that`
  }

  /** Returns the stricter of a tool's class and its pinned one: a server does not make its tools more harmless. */
  readonly classOf = (definition: Tool): ToolClass => {
    const declared = declaredClass(definition, 'third')
    return strictest(this.#pinOf.get(definition)?.class ?? declared, declared)
  }

  /** Returns a server's tools that differ from their pins, the more dangerous ones first. */
  changedOf(server: string): ChangedTool[] {
    const changed = [...(this.#pins.get(server)?.values() ?? [])].filter(isChanged).map(toChanged)
    return changed.sort((a, b) => Number(b.rise !== undefined) - Number(a.rise !== undefined))
  }

  /** Makes the present definitions the pins; returns the names of those that differed. Throws `not_found`. */
  async accept(server: string, by: string): Promise<string[]> {
    const { store, clock, log } = this.#deps
    const at = clock.now()
    const listed = this.#looked.filter(tool => tool.server === server)
    const pins = this.#pins.get(server)
    if (!pins || listed.length === 0)
      throw new HubError('not_found', `No tools of a server ${server} that is not your own are listed now`)
    const changed = this.changedOf(server).map(({ name }) => name)
    const present = new Set(listed.map(({ definition }) => this.#pinOf.get(definition)))
    for (const pin of pins.values()) {
      if (!present.has(pin)) pins.delete(pin.tool)
      Object.assign(pin, { class: pin.seen_class, parts_json: pin.seen_json, risen_to: null, risen_at: null })
    }
    log.info('tools_accepted', { server, changed, by })
    const rows = [...pins.values()]
    const stored = this.#write(() =>
      store.write(async tx => {
        await deleteToolPins(tx, server)
        await saveToolPins(tx, rows)
        await record(tx, {
          at,
          kind: 'pin',
          actor: by,
          outcome: 'accepted',
          details: { server, tools: changed },
        })
      }),
    )
    // Tools beyond the bound may have room now.
    this.#compare(server, listed)
    await stored
    return changed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing
  }

  #compare(server: string, listed: readonly CatalogueTool[]): void {
    const { store, clock, log } = this.#deps
    const forgotten = this.#undone.delete(server) ? this.#forgotten.get(server) : undefined
    this.#forgotten.delete(server)
    const pins = this.#pins.get(server) ?? forgotten ?? new Map<string, ToolPinRow>()
    const isFirst = pins.size === 0
    const rows = pins === forgotten ? [...pins.values()] : []
    this.#pins.set(server, pins)
    const events: NewEvent[] = []
    for (const [tool, definition] of withNames(listed)) {
      if (this.#pinOf.has(definition)) continue
      const now = toSeen(tool, definition)
      const before = pins.get(tool)
      if (!before && pins.size >= MOST_PINS) continue
      const pin = before ?? toPin(server, tool, now, clock.now())
      pins.set(tool, pin)
      this.#pinOf.set(definition, pin)
      if (before?.seen_json === now.seen_json) continue
      Object.assign(pin, now, riseOf(pin, now.seen_class, clock.now()))
      rows.push(pin)
      if (!before && !isFirst) events.push(this.#toEvent('hub.tool_added', { server, tool }))
      if (pin.seen_json === pin.parts_json) continue
      const change = { server, tool, ...describeChange(pin) }
      log.warn('tool_changed', { server, tool, what: change.what })
      events.push(this.#toEvent('hub.tool_changed', change))
    }
    if (rows.length === 0) return
    void this.#write(async () => {
      for (const event of events) await this.#publish(event)
      await store.write(async tx => {
        await saveToolPins(tx, rows)
        await record(tx, ...events.map(toEntry))
      })
    })
  }

  /** Returns an event; it quotes the server, so work that it begins has the lowest power. */
  #toEvent(type: string, payload: { server: string; tool: string }): NewEvent {
    const { clock, newId } = this.#deps
    const key = `${payload.server}/${payload.tool}`
    return { source: 'hub', externalId: newId('tool'), type, key, payload, at: clock.now(), power: 'foreign' }
  }

  /** Does a write after those before it. What could not be written, the next start compares again. */
  #write(job: () => Promise<unknown>): Promise<unknown> {
    const done = this.#writing.then(job)
    this.#writing = done.catch(error => this.#deps.log.warn('tool_pins_not_saved', { error }))
    return done
  }
}

/** Tells whether a server was removed, or became the operator's own. */
function isGone(servers: Looked, server: string): boolean {
  const spec = servers.specOf(server)
  if (spec) return spec.trust === 'own'
  return servers.settled && !servers.status().some(({ name }) => name === server)
}

/** Returns the row of the audit for a tool that is new or not as it was; the event tells how it differs. */
function toEntry({ type, at, payload: { server, tool, what } }: NewEvent): AuditEntry {
  const outcome = type === 'hub.tool_added' ? 'added' : 'changed'
  return { at, kind: 'pin', actor: 'hub', tool: String(tool), outcome, details: { server, what } }
}

function byTool(row: ToolPinRow): [string, ToolPinRow] {
  return [row.tool, row]
}

/** Returns definitions with their names on the server; the second one of a name gets a number. */
function withNames(listed: readonly CatalogueTool[]): [string, Tool][] {
  const counts = new Map<string, number>()
  return listed.map(({ original, definition }) => {
    const name = withoutNul(original.length > LONGEST_NAME ? toToolName(original, LONGEST_NAME) : original)
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    const tool = count === 1 ? name : `${name} (${count})`
    return [tool, definition]
  })
}

function toSeen(name: string, definition: Tool): Pick<ToolPinRow, 'seen_class' | 'seen_json'> {
  const parts: Parts = {}
  for (const part of PARTS) {
    const value = definition[part]
    if (value === undefined) continue
    const text = typeof value === 'string' ? value : toText(value)
    const hash = createHash('sha256').update(text).digest('hex')
    parts[part] = { hash, text: truncate(text, LONGEST_SHOWN) }
  }
  const seen_class = declaredClass({ ...definition, name }, 'third')
  return { seen_class, seen_json: JSON.stringify(withoutNul(parts)) }
}

/** Returns JSON that is the same for any order of keys, unless the value is nested too deeply for that. */
function toText(value: unknown): string {
  try {
    return toCanonicalJson(value)
  } catch (error) {
    if (error instanceof RangeError) return JSON.stringify(value)
    throw error
  }
}

function toPin(
  server: string,
  tool: string,
  seen: Pick<ToolPinRow, 'seen_class' | 'seen_json'>,
  now: number,
): ToolPinRow {
  const pinned = { class: seen.seen_class, parts_json: seen.seen_json, risen_to: null, risen_at: null }
  return { server, tool, ...seen, ...pinned, first_seen_at: now }
}

/** Returns the rise of a pin to a class; none where the class is not the most dangerous so far. */
function riseOf(pin: ToolPinRow, to: ToolClass, now: number): Partial<ToolPinRow> {
  const before = pin.risen_to ?? pin.class
  return strictest(to, before) !== before ? { risen_to: to, risen_at: now } : {}
}

function isChanged(pin: ToolPinRow): boolean {
  return pin.risen_to !== null || pin.seen_json !== pin.parts_json
}

function toChanged(pin: ToolPinRow): ChangedTool {
  const { what } = describeChange(pin)
  const rise = pin.risen_to === null ? undefined : { from: pin.class, to: pin.risen_to }
  return { name: pin.tool, what, ...(rise && { rise }) }
}

/** Returns the parts of a tool that are not as in its pin, with the beginnings of their texts. */
function describeChange(pin: ToolPinRow) {
  const before: Parts = JSON.parse(pin.parts_json)
  const after: Parts = JSON.parse(pin.seen_json)
  const what = PARTS.filter(part => before[part]?.hash !== after[part]?.hash)
  const textsOf = (parts: Parts) => Object.fromEntries(what.map(part => [part, parts[part]?.text ?? '']))
  return { what, before: textsOf(before), after: textsOf(after) }
}
