/** A JSON object that is handed on as it came. */
export type JsonObject = Record<string, unknown>

export interface ForwardedProgress {
  progress: number
  total?: number
  message?: string
}

/**
 * Who a request is made for. A server may ask them something, and tell them, only while the request is in flight.
 */
export interface Asker {
  /** Equal for requests of one party: a client's session, an agent's thread. */
  readonly key: string
  /** What the party can be asked, as a client declares it: `elicitation`, `sampling`, `roots`. */
  readonly capabilities: JsonObject
  /** It takes `input_required` results and repeats its request; for others the hub asks, and repeats it itself. */
  readonly repeats: boolean
  /** Asks by the protocol's method; rejects with what the party answered, or when the signal aborts. */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>
  /** The least severe log message that it wants with this request. */
  readonly logLevel?: string
  /** Takes a log message: the params of `notifications/message`. */
  log?(params: JsonObject): void
}

export interface ForwardOptions {
  signal?: AbortSignal
  /** The request's `_meta`, without what the hub sets itself. */
  meta?: JsonObject
  asker?: Asker
  /** Whose own connection an isolated server is asked over; the asker's where undefined. */
  session?: string
  /** What a request is repeated with after the server asked for input: `inputResponses`, `requestState`. */
  repeat?: JsonObject
  onProgress?: (progress: ForwardedProgress) => void
}

/** Of what servers offer, the kinds that changed. */
export interface OfferChange {
  tools: boolean
  resources: boolean
  prompts: boolean
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
