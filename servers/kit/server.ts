import type { Clock } from './clock.ts'
import type { Environment } from './env.ts'
import type { Emit, EventLog } from './events.ts'
import type { Log } from './log.ts'
import type { Tool } from './tool.ts'

/** What a server gets to work with. */
export interface ServerDeps {
  clock: Clock
  environment: Environment
  log: Log
  emit: Emit
}

/** Something looked at again and again. The kit calls `poll`, never twice at once; a rejection is logged. */
export interface Watcher {
  readonly name: string
  /** Milliseconds between the end of one poll and the next. The first comes at once. */
  readonly every: number
  poll(): Promise<void>
}

/** A server at work. The kit calls its tools and watchers and, once, its dispose. */
export interface StartedServer extends AsyncDisposable {
  readonly tools: readonly Tool[]
  readonly watchers: readonly Watcher[]
}

/** A server of ours: what it is called, and how it starts. Nothing runs before `start`. */
export interface ServerDefinition {
  readonly name: string
  readonly version: string
  readonly title: string
  /** For a model, at the start of a connection: what this server is for, and when to use which tool. */
  readonly instructions: string
  /** Throws SettingsError where the environment is wrong. */
  start(deps: ServerDeps): Promise<StartedServer>
}

/** What the transports serve. */
export interface App {
  readonly definition: ServerDefinition
  readonly tools: ReadonlyMap<string, Tool>
  readonly events: EventLog
  readonly clock: Clock
  readonly log: Log
}
