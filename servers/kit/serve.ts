import { randomUUID } from 'node:crypto'
import { readReadOnly, toOffered } from './access.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Environment, systemEnvironment } from './env.ts'
import { emitInWords } from './event-words.ts'
import { createEventLog } from './events.ts'
import { toHealth } from './health.ts'
import type { HttpOptions } from './http/http.ts'
import { createLog, type Log } from './log.ts'
import type { App, ServerDefinition } from './server.ts'
import { runWatcher } from './watch.ts'

export type Transport = { kind: 'stdio' } | ({ kind: 'http' } & HttpOptions)

export interface ServeOptions {
  transport: Transport
  /** Default: the environment of this process. */
  environment?: Environment
  clock?: Clock
  log?: Log
}

/** A running server. Its disposal ends it in order and may be repeated. */
export interface Served extends AsyncDisposable {
  /** URL of the MCP endpoint (`http://127.0.0.1:8431/mcp`); undefined on stdio. */
  readonly url?: string
  /**
   * Resolves when no client can reach it any more: on stdio when the client disconnected, else when it was
   * disposed of.
   */
  readonly closed: Promise<void>
}

/**
 * Starts a server over stdio or Streamable HTTP; both speak 2026-07-28 and the protocol before it. Rejects
 * with SettingsError if the environment is wrong, and with an Error that says what to do if the port cannot
 * be opened; nothing is left running then. If `<SERVER>_READ_ONLY` is true, it offers only its read-only
 * tools.
 */
export async function serve(definition: ServerDefinition, options: ServeOptions): Promise<Served> {
  const { transport, environment = systemEnvironment(), clock = systemClock } = options
  const log = options.log ?? createLog(definition.name, clock)
  const readOnly = readReadOnly(definition.name, environment)
  const events = createEventLog(definition.name, `${definition.name}-${randomUUID()}`, clock)
  await using opened = new AsyncDisposableStack()
  const started = opened.use(
    await definition.start({ clock, environment, log, emit: emitInWords(events.emit) }),
  )
  const tools = new Map(toOffered(started.tools, readOnly).map(tool => [tool.listed.name, tool]))
  const health = toHealth(started)
  const served = opened.use(await open({ definition, tools, events, clock, log, health }, transport))
  for (const watcher of started.watchers) opened.defer(runWatcher(watcher, clock, log))
  const owned = opened.move()
  return {
    ...(served.url === undefined ? {} : { url: served.url }),
    closed: served.closed,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Loads a transport only when it is used: HTTP costs a stdio server nothing. */
async function open(app: App, transport: Transport): Promise<Served> {
  switch (transport.kind) {
    case 'stdio':
      return (await import('./stdio.ts')).openStdio(app)
    case 'http':
      return (await import('./http/http.ts')).openHttp(app, transport)
    default:
      return transport satisfies never
  }
}
