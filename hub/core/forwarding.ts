/** A JSON object that the hub forwards unchanged. */
export type JsonObject = Record<string, unknown>

export interface ForwardedProgress {
  progress: number
  total?: number
  message?: string
}

/**
 * The requester of a call to a server.
 * The server may send it requests and messages only while the call is in flight.
 */
export interface Requester {
  /** Key that is equal for all requests of one principal: a client's session, an agent's thread. */
  readonly key: string
  /** Requests that the requester takes, as a client declares them: `elicitation`, `sampling`, `roots`. */
  readonly capabilities: JsonObject
  /** True where it takes `input_required` results and repeats; for others the hub asks and repeats. */
  readonly repeats: boolean
  /** Sends the requester a request of the protocol; rejects with its error, or when the signal aborts. */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>
  /** Least severe level of the log messages that the requester wants with this request. */
  readonly logLevel?: string
  /** Takes a log message: the params of `notifications/message`. */
  log?(params: JsonObject): void
}

export interface ForwardOptions {
  signal?: AbortSignal
  /** The request's `_meta`, without the keys that the hub sets itself. */
  meta?: JsonObject
  requester?: Requester
  /** Key of the session whose connection to an isolated server is used; the requester's key where undefined. */
  session?: string
  /** Fields of a request that is repeated after the server asked: `inputResponses`, `requestState`. */
  repeat?: JsonObject
  onProgress?: (progress: ForwardedProgress) => void
}

/** Kinds of the servers' listings, true for each one that changed. */
export interface OfferChange {
  tools: boolean
  resources: boolean
  prompts: boolean
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
