import type { HealthReport, UpstreamHealth } from '../../schemas/health.ts'
import type { Clock } from './clock.ts'
import type { Environment } from './env.ts'
import type { Emit, EventLog } from './events.ts'
import type { Log } from './log.ts'
import type { Tool } from './tool.ts'

/** The parts that a server uses. */
export interface ServerDeps {
  clock: Clock
  environment: Environment
  log: Log
  emit: Emit
}

/** A server's check that is repeated. The kit calls `poll`, never twice at once; a rejection is logged. */
export interface Watcher {
  readonly name: string
  /** Milliseconds between the end of one poll and the next. */
  readonly every: number
  /** Milliseconds until the first poll, if clients should get their tools before; default: it starts at once. */
  readonly startAfter?: number
  poll(): Promise<void>
}

/** A source that pushes: a stream of events, a socket. The kit calls `follow`, never twice at once. */
export interface Follower {
  readonly name: string
  /** Milliseconds until the first connection; default: it starts at once. */
  readonly startAfter?: number
  /**
   * Listens until the signal aborts or the connection breaks; the kit then calls it again after a pause that
   * grows. It calls `ready` when it is connected. It may resolve or reject; both mean that the connection is
   * gone.
   */
  follow(signal: AbortSignal, ready: () => void): Promise<void>
}

/** A started server. The kit calls its tools and watchers and, once, its dispose. */
export interface StartedServer extends AsyncDisposable {
  readonly tools: readonly Tool[]
  readonly watchers: readonly (Watcher | Follower)[]
  /** Checks whether every configured upstream answers; see `checkHealth`. It should not reject. */
  health?(): Promise<readonly UpstreamHealth[]>
}

/** The definition of a server: its name and how it starts. Nothing runs before `start`. */
export interface ServerDefinition {
  readonly name: string
  readonly version: string
  readonly title: string
  /** Text for a model, at the start of a connection: the server's purpose, and when to use which tool. */
  readonly instructions: string
  /** Starts the server. Throws SettingsError if the environment is wrong. */
  start(deps: ServerDeps): Promise<StartedServer>
}

/** The parts that the transports serve. */
export interface App {
  readonly definition: ServerDefinition
  readonly tools: ReadonlyMap<string, Tool>
  readonly events: EventLog
  readonly clock: Clock
  readonly log: Log
  /** Undefined if the server has no upstreams. */
  readonly health?: (() => Promise<HealthReport>) | undefined
}
