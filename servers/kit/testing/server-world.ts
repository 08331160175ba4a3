import { randomUUID } from 'node:crypto'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { type EventType, eventPayloads, type ServerEvent } from '../../../schemas/events.ts'
import type { HealthReport } from '../../../schemas/health.ts'
import { readReadOnly, toOffered } from '../access.ts'
import type { Clock } from '../clock.ts'
import type { Environment } from '../env.ts'
import { createEventLog } from '../events.ts'
import { toHealth } from '../health.ts'
import type { ProgressNote } from '../progress.ts'
import type { ServerDefinition } from '../server.ts'
import type { Tool, ToolRequest } from '../tool.ts'
import { runWatcher } from '../watch.ts'
import { assertReadable } from './readable.ts'

export interface Called {
  isError: boolean
  text: string
  /** Structured content; undefined for a failure. */
  data: Record<string, unknown>
  images: { data: string; mimeType: string }[]
  /** True if the result is marked as foreign text. */
  untrusted: boolean
  progress: ProgressNote[]
}

/** A running server in this process, without a transport. */
export interface ServerWorld extends AsyncDisposable {
  /** The tools as clients see them. */
  listed(): Tool['listed'][]
  /**
   * Calls a tool. Throws if there is none, if the structured content does not fit the listed output schema,
   * or if the text is not readable.
   */
  call(
    name: string,
    args?: Record<string, unknown>,
    signal?: AbortSignal,
    request?: ToolRequest,
  ): Promise<Called>
  /** Returns the events raised so far, each payload checked against its schema. */
  events(): ServerEvent[]
  health(): Promise<HealthReport | undefined>
  /** Log entries so far. */
  readonly logged: { level: string; event: string; fields: Record<string, unknown> }[]
}

export interface WorldOptions {
  environment?: Environment
  clock: Clock
  /** Default true. */
  watchers?: boolean
}

/** Starts the server; rejects as it does. */
export async function startWorld(definition: ServerDefinition, options: WorldOptions): Promise<ServerWorld> {
  const { environment = {}, clock, watchers = true } = options
  const logged: ServerWorld['logged'] = []
  const log = (level: string, event: string, fields = {}) => void logged.push({ level, event, fields })
  const events = createEventLog(definition.name, `${definition.name}-${randomUUID()}`, clock)
  await using opened = new AsyncDisposableStack()
  const readOnly = readReadOnly(definition.name, environment)
  const started = opened.use(await definition.start({ clock, environment, log, emit: events.emit }))
  const tools = toOffered(started.tools, readOnly)
  for (const watcher of watchers ? started.watchers : []) opened.defer(runWatcher(watcher, clock, log))
  const owned = opened.move()
  return {
    logged,
    listed: () => tools.map(tool => tool.listed),
    async call(name, args = {}, signal = new AbortController().signal, request = {}) {
      const tool = tools.find(({ listed }) => listed.name === name)
      if (!tool) throw new Error(`There is no tool ${name}.`)
      const progress: ProgressNote[] = []
      const note = async (one: ProgressNote) => void progress.push(one)
      const result = await tool.call(args, { ...request, clock, log, signal, progress: note })
      return { ...check(tool, result), progress }
    },
    events: () => events.read(0).events.map(checkEvent),
    health: async () => toHealth(started)?.(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function check(tool: Tool, result: Awaited<ReturnType<Tool['call']>>): Omit<Called, 'progress'> {
  const text = result.content
    .map(part => (part.type === 'text' ? part.text : ''))
    .join('\n')
    .trim()
  const isError = result.isError === true
  assertReadable(text)
  if (!isError) assertFits(tool.listed.outputSchema ?? {}, result.structuredContent)
  return {
    isError,
    text,
    data: (result.structuredContent ?? {}) as Record<string, unknown>,
    images: result.content.flatMap(part =>
      part.type === 'image' ? [{ data: part.data, mimeType: part.mimeType }] : [],
    ),
    untrusted: result._meta?.['superbloom/untrusted'] === true,
  }
}

/** Throws if the value does not fit the JSON schema, by a validator that is not zod. */
export function assertFits(schema: object, value: unknown): void {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  const fits = ajv.compile(schema)
  if (fits(value)) return
  throw new Error(
    `It does not fit its schema: ${ajv.errorsText(fits.errors)}\n${JSON.stringify(value, null, 1)}`,
  )
}

function checkEvent(event: ServerEvent): ServerEvent {
  eventPayloads[event.type as EventType].parse(event.payload)
  return event
}
