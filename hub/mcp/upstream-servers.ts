import type {
  CallToolResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  Tool,
} from '@modelcontextprotocol/server'
import type { ForwardOptions, JsonObject } from '../core/forwarding.ts'

/**
 * The upstream servers: all that they offer, under its names in the hub. Requests throw `not_found`,
 * `unavailable`, and the error that the server answered with.
 */
export interface UpstreamServers {
  /** A list stays the same array for as long as nothing in it changed. */
  readonly catalogue: {
    readonly tools: readonly { definition: Tool }[]
    readonly prompts: readonly { definition: Prompt }[]
    readonly resources: readonly Resource[]
    readonly resourceTemplates: readonly ResourceTemplateType[]
    /** The servers' self-descriptions, by the server's name. */
    readonly instructions: readonly { server: string; text: string }[]
    tool(name: string): { definition: Tool } | undefined
  }
  call(name: string, args: JsonObject, options: ForwardOptions): Promise<CallToolResult>
  readResource(uri: string, options: ForwardOptions): Promise<ReadResourceResult>
  getPrompt(name: string, args: JsonObject, options: ForwardOptions): Promise<GetPromptResult>
  complete(params: JsonObject, options: ForwardOptions): Promise<JsonObject>
  /** Subscribes to exactly these resources from now on; other subscriptions end. */
  subscribe(uris: ReadonlySet<string>): void
  /** Asks every server for log messages of this level and above. */
  setLogLevel(level: LogLevel): void
  /** Ends what a client's session has of its own at the servers; the session is over. */
  endSession(key: string): void
  /** Tells the servers that the roots of some client changed. */
  rootsChanged(): void
}

export const LOG_MESSAGE = 'notifications/message'

/** Levels, the least severe first. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/**
 * Tells whether a client that wants messages from level `wanted` on gets one of `level`; without `wanted` it
 * gets none.
 */
export function isLogged(level: unknown, wanted: string | undefined): boolean {
  return rank(wanted) >= 0 && rank(level) >= rank(wanted)
}

/**
 * Calls `set` only for a level that is less severe than all before. A server knows one level for all of its
 * clients, so it gets the least severe that any client of the hub ever wanted, and the hub filters for each
 * of them.
 */
export function onlyWider(set: (level: LogLevel) => void): (level: LogLevel) => void {
  let widest = Number.POSITIVE_INFINITY
  return level => {
    if (rank(level) >= widest) return
    widest = rank(level)
    set(level)
  }
}

function rank(level: unknown): number {
  return LOG_LEVELS.indexOf(level as LogLevel)
}
