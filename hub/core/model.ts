/** A tool as a model is told of it. */
export interface ModelTool {
  name: string
  title?: string
  description: string
  /** JSON Schema of the arguments' object. */
  inputSchema: Record<string, unknown>
  /** Says that calling it changes nothing. */
  readOnly?: boolean
}

/** A call that a model asks for. `arguments` is the JSON text as the model wrote it, not yet checked. */
export interface ModelCall {
  id: string
  name: string
  arguments: string
  /** It waits for a person's yes, whatever the agent may do by itself. Calls of meta-tools never wait. */
  ask?: true | undefined
}

/** One thing that woke the agent, as the user message of its batch tells it. */
export interface BatchItem {
  kind: 'message' | 'wake' | 'event' | 'agent' | 'task' | 'approval' | 'notice'
  /** Where it came from, in words: "alex in homelab", "schedule sch_…", "event temp_high of metrics". */
  origin: string
  text: string
  /** Unix milliseconds. */
  at: number
}

/** A picture that a person or a tool gave. */
export interface ModelImage {
  /** `image/png`, `image/jpeg`, `image/webp` or `image/gif`. */
  mimeType: string
  /** Base64. */
  data: string
}

/**
 * What a model thought, and what else its provider wants back as it came: signatures, encrypted items. It is never
 * shown, and goes back only to the family that made it.
 */
export interface Thinking {
  /** The family that made it: a provider's model at one address. What earlier versions stored has no address, and stays. */
  by: string
  /** What it thought, as far as the provider shows it; may be empty. */
  text: string
  /** What came beside each of the calls, in their order: Gemini wants the signatures of its thoughts back. */
  extras?: readonly unknown[] | undefined
  /** What belongs to the message as a whole, in the form of the adapter that read it. JSON. */
  parts?: unknown
}

/** The window in the order in which it happened. */
export type ModelMessage =
  | { role: 'user'; text: string; items: BatchItem[]; images?: readonly ModelImage[] | undefined }
  | { role: 'assistant'; text: string; calls: ModelCall[]; thinking?: Thinking | undefined }
  | {
      role: 'tool'
      callId: string
      name: string
      text: string
      isError: boolean
      structured?: unknown
      images?: readonly ModelImage[] | undefined
    }

export interface ModelRequest {
  system: string
  messages: ModelMessage[]
  tools: ModelTool[]
  /** Most tokens the reply may have. */
  maxOutput: number
  /** The IANA time zone in which people's times are meant. */
  timezone: string
  /** Unix milliseconds. */
  now: number
}

/** Tokens as the provider counted them; `cachedInput` is the part of `input` that came from its cache. */
export interface ModelUsage {
  input: number
  output: number
  cachedInput: number
}

/** Money per million tokens. */
export interface Price {
  currency: string
  input: number
  cachedInput: number
  output: number
}

export interface ModelReply {
  text: string
  calls: ModelCall[]
  thinking?: Thinking
  /** Missing where the provider did not say. */
  usage?: ModelUsage
  /** The reply was cut at `maxOutput`. */
  truncated: boolean
  /** Who answered, where that is not the model that was asked but one of its fallbacks. */
  by?: { name: string; price?: Price | undefined }
}

export interface ModelOptions {
  signal: AbortSignal
  /** Gets the reply's text piece by piece; what a model thinks aloud is never in it. */
  onText: (text: string) => void
  /** Gets what was written of a reply, thoughts too, where the signal cut it: it may be billed. */
  onCut?: (begun: Begun) => void
}

/**
 * Something that answers. `complete` makes one attempt: it throws a ModelError for what the provider refused or the
 * network broke, and the signal's reason when aborted; retries are the caller's. It may be called by many at once.
 */
export interface Model {
  readonly name: string
  /** Tokens that request and reply may have together. */
  readonly context: number
  readonly maxOutput: number
  readonly price?: Price | undefined
  /** Asking it costs nothing, so that a call which was cut is not charged. */
  readonly isFree?: boolean
  /** It takes in any number of tools, and does not look for them. */
  readonly readsAllTools?: boolean
  /** False for one that cannot write a summary; default true. */
  readonly canSummarize?: boolean
  /** Missing where nothing can go wrong with it. */
  readonly health?: ModelHealth
  /** What is known of how its provider wants requests, besides what is documented. */
  quirks?(): ModelQuirk[]
  complete(request: ModelRequest, options: ModelOptions): Promise<ModelReply>
}

/** A change without which a provider refuses requests, found out by trying. It is forgotten after a week. */
export interface ModelQuirk {
  /** The hub's names of the tools that it does not take. */
  tools?: readonly string[] | undefined
  model: string
  /** What is changed, in words that follow the model's name. */
  what: string
  /** Unix milliseconds. */
  since: number
}

/** How a provider does. `trying`: it was down, and one call finds out whether it still is. */
export interface ProviderHealth {
  name: string
  baseUrl?: string | undefined
  state: 'ok' | 'down' | 'trying'
  /** When it is tried again, unix milliseconds. */
  retryAt?: number
  /** What it failed with. */
  error?: string
}

/** Keeps callers from asking what is known to be down. All of it is in memory. */
export interface ModelHealth {
  /** The caller repeats no more after this error: its provider is left alone for a while. True where another may be asked. */
  giveUp(error: unknown): boolean
  /** When some provider may be asked again; undefined for now. */
  retryAt(): number | undefined
  /** A person wants another try: everything may be asked again. */
  reset(): void
  providers(): ProviderHealth[]
  quirks(): ModelQuirk[]
}

/** Recognised by status and code, never by matching text. */
export type ModelErrorKind =
  | 'rate_limit'
  | 'network'
  | 'server'
  | 'overflow'
  | 'auth'
  | 'rejected'
  | 'broken_stream'
  /** Nobody was asked: every provider is known to be down. */
  | 'unavailable'

/** What a provider had sent before a call of it failed. */
export interface Begun {
  /** Missing where it did not say. */
  usage?: ModelUsage | undefined
  /** All that it wrote: text, thoughts and calls. */
  written: string
}

/** What a provider said when it refused a request, as far as a repair reads it. */
export interface ModelRefusal {
  status: number
  code?: string | undefined
  /** The part of the request that it blames, such as `tools[3].function.parameters`. */
  param?: string | undefined
  /** Its own words. They name a tool; they never say what kind of refusal it is. */
  said?: string | undefined
}

export class ModelError extends Error {
  readonly kind: ModelErrorKind
  /** Set where the provider answered with a refusal. */
  readonly refusal: ModelRefusal | undefined
  readonly status: number | undefined
  /** Milliseconds that the provider asked to wait. */
  readonly retryAfter: number | undefined
  /** To be set where the reply had begun: it may be billed. */
  begun: Begun | undefined

  constructor(
    kind: ModelErrorKind,
    message: string,
    options: ErrorOptions & {
      status?: number | undefined
      retryAfter?: number | undefined
      refusal?: ModelRefusal | undefined
    } = {},
  ) {
    super(message, options)
    this.name = 'ModelError'
    this.kind = kind
    this.status = options.status
    this.refusal = options.refusal
    this.retryAfter = options.retryAfter
  }

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return ['rate_limit', 'network', 'server', 'broken_stream', 'unavailable'].includes(this.kind)
  }
}
