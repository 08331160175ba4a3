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
 * What all servers below offer, under the names that it has in the hub. Requests throw `not_found` and `unavailable`,
 * and what the server answered with.
 */
export interface Below {
  tools(): readonly Tool[]
  tool(name: string): Tool | undefined
  prompts(): readonly Prompt[]
  resources(): readonly Resource[]
  resourceTemplates(): readonly ResourceTemplateType[]
  /** What servers say of themselves, by name. */
  instructions(): readonly { server: string; text: string }[]
  call(name: string, args: JsonObject, options: ForwardOptions): Promise<CallToolResult>
  readResource(uri: string, options: ForwardOptions): Promise<ReadResourceResult>
  getPrompt(name: string, args: JsonObject, options: ForwardOptions): Promise<GetPromptResult>
  complete(params: JsonObject, options: ForwardOptions): Promise<JsonObject>
  /** Tells of each change of these resources from now on, and of no others. */
  subscribe(uris: ReadonlySet<string>): void
  /** Asks every server for log messages from this level on. */
  setLogLevel(level: LogLevel): void
  /** A client's session is over: what it has of its own ends. */
  endSession(key: string): void
  /** The roots of some client changed. */
  rootsChanged(): void
}

export const LOG_MESSAGE = 'notifications/message'

/** From the least severe on. */
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

/** Whether a message of a level is for who wants those from `wanted` on; nobody who did not say so wants any. */
export function isLogged(level: unknown, wanted: string | undefined): boolean {
  return rank(wanted) >= 0 && rank(level) >= rank(wanted)
}

/**
 * A server knows one level for all of its clients: it is asked for the least severe that any of the hub's ever wanted,
 * and each of these gets what it wants of that.
 */
export function onlyWider(set: Below['setLogLevel']): Below['setLogLevel'] {
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
