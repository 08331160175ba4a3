import type { ModelEntryFile } from '../../schemas/models.ts'
import type { ProviderName } from '../../schemas/providers.ts'

export interface ModelTool {
  name: string
  title?: string
  description: string
  /** JSON Schema of the arguments' object. */
  inputSchema: Record<string, unknown>
  /** True where calling the tool changes nothing. */
  readOnly?: boolean
  /** True for a meta-tool: it acts on nothing but the agent, and no approval holds it. */
  isMeta?: true
}

/** A call that a model requests. `arguments` is the JSON text as the model wrote it, not yet checked. */
export interface ModelCall {
  id: string
  name: string
  arguments: string
  /** True where the call waits for an approval, whatever the agent may do. Calls of meta-tools never wait. */
  ask?: true | undefined
}

/** One item that woke the agent, as the user message of its batch shows it. */
export interface BatchItem {
  kind: 'message' | 'wake' | 'event' | 'agent' | 'task' | 'approval' | 'notice'
  /** Where it came from, in words: "alex in homelab", "schedule sch_…", "event temp_high of metrics". */
  origin: string
  text: string
  /** Unix milliseconds. */
  at: number
}

export interface ModelImage {
  /** `image/png`, `image/jpeg`, `image/webp` or `image/gif`. */
  mimeType: string
  /** Base64. */
  data: string
}

/**
 * A model's reasoning, and what else its provider wants back unchanged: signatures, encrypted items. It is
 * never shown, and goes back only to the family that made it.
 */
export interface Thinking {
  /**
   * Family that made it: a provider's model at one address. Without one (old versions) it is not sent back.
   */
  by: string
  /** Reasoning as far as the provider shows it; may be empty. */
  text: string
  /** Values that came beside the calls, in their order: Gemini wants its thoughts' signatures back. */
  extras?: readonly unknown[] | undefined
  /** JSON that belongs to the message as a whole, in the form of the adapter that read it. */
  parts?: unknown
}

/** A message of the window. Messages are in the order in which they happened. */
export type ModelMessage = UserMessage | AssistantMessage | ToolMessage

export interface UserMessage {
  role: 'user'
  text: string
  items: BatchItem[]
  images?: readonly ModelImage[] | undefined
}

export interface AssistantMessage {
  role: 'assistant'
  text: string
  calls: ModelCall[]
  thinking?: Thinking | undefined
}

export interface ToolMessage {
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
  /** Most tokens that the reply may have. */
  maxOutput: number
  /** IANA time zone of the times that people write. */
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

type Decided = 'provider' | 'baseUrl' | 'price' | 'timeout'

/** A configured model. The hub asks the provider for sizes that the config does not give. */
export interface ModelConfig extends Omit<ModelEntryFile, Decided> {
  provider: ProviderName
  baseUrl: string
  price?: Price | undefined
  /** Milliseconds until the answer begins. */
  timeout?: number | undefined
}

/** The configured models. `compaction` writes summaries; the others think. */
export interface ModelsConfig {
  default: ModelConfig
  fallback: readonly ModelConfig[]
  compaction: ModelConfig | undefined
  /** Models that agent files choose by name. */
  named: Readonly<Record<string, ModelConfig>>
}

export interface ModelReply {
  text: string
  calls: ModelCall[]
  thinking?: Thinking
  /** Missing where the provider reported no usage. */
  usage?: ModelUsage
  /** True where the reply was cut at `maxOutput`. */
  truncated: boolean
  /** The fallback that answered; missing where the model itself did. */
  by?: { name: string; price?: Price | undefined }
}

export interface ModelOptions {
  signal: AbortSignal
  /** Gets the reply's text piece by piece; a model's reasoning is never in it. */
  onText: (text: string) => void
  /** Gets what the model had written, reasoning too, when the signal cut its reply: it may be billed. */
  onCut?: (begun: Begun) => void
}

/**
 * Answers requests. `complete` makes one attempt: it throws a ModelError when the provider refuses or the
 * network fails, and the signal's reason when aborted; the caller retries. Many callers may call it at once.
 */
export interface Model {
  readonly name: string
  /** Tokens that request and reply may have together. */
  readonly context: number
  readonly maxOutput: number
  readonly price?: Price | undefined
  /** True where requests cost nothing, so that a call which was cut is not charged. */
  readonly isFree?: boolean
  /** True where the model takes any number of tools and does not search for them. */
  readonly readsAllTools?: boolean
  /** False for a model that cannot write a summary; default true. */
  readonly canSummarize?: boolean
  /** False for a model that gets the kind and size of pictures in their place; default true. */
  readonly sees?: boolean
  /** Commands that it takes, such as `help` for `/help`; none for a language model. */
  readonly commands?: readonly string[]
  /** Missing where the model has no provider that can fail. */
  readonly health?: ModelHealth
  /** Returns what the hub learnt about how the provider wants requests, besides what is documented. */
  quirks?(): ModelQuirk[]
  complete(request: ModelRequest, options: ModelOptions): Promise<ModelReply>
}

/** A change of requests that a provider needs, found out by trying. It is forgotten after a week. */
export interface ModelQuirk {
  /** Names, as the hub has them, of the tools that the provider does not take. */
  tools?: readonly string[] | undefined
  model: string
  /** Description of the change, in words that follow the model's name. */
  what: string
  /** Unix milliseconds. */
  since: number
}

/** State of a provider. `trying`: it was down, and one call finds out whether it still is. */
export interface ProviderHealth {
  name: string
  baseUrl?: string | undefined
  state: 'ok' | 'down' | 'trying'
  /** When the provider is tried again, unix milliseconds. */
  retryAt?: number
  error?: string
}

/** Keeps callers from asking providers that are known to be down. All of it is in memory. */
export interface ModelHealth {
  /** Marks the provider as down after an error that is no longer retried. True where another may be asked. */
  giveUp(error: unknown): boolean
  /** Returns when some provider may be asked again; undefined for now. */
  retryAt(): number | undefined
  /** Allows all providers to be asked again, because a person wants another try. */
  reset(): void
  providers(): ProviderHealth[]
  quirks(): ModelQuirk[]
}

/** Kind of a model's error, recognised by status and code, never by matching text. */
export type ModelErrorKind =
  | 'rate_limit'
  | 'network'
  | 'server'
  | 'overflow'
  | 'auth'
  | 'rejected'
  | 'broken_stream'
  /** No provider was asked: all are known to be down. */
  | 'unavailable'

/** The part of a reply that a provider had sent before the call failed. */
export interface Begun {
  /** Missing where the provider reported no usage. */
  usage?: ModelUsage | undefined
  /** Everything that the provider wrote: text, reasoning and calls. */
  written: string
}

/** A provider's refusal of a request, as far as a repair reads it. */
export interface ModelRefusal {
  status: number
  code?: string | undefined
  /** Part of the request that the provider blames, such as `tools[3].function.parameters`. */
  param?: string | undefined
  /** The provider's own words. They name a tool; they never say what kind of refusal it is. */
  said?: string | undefined
}

export class ModelError extends Error {
  readonly kind: ModelErrorKind
  /** Set where the provider answered with a refusal. */
  readonly refusal: ModelRefusal | undefined
  readonly status: number | undefined
  /** Milliseconds that the provider asked to wait. */
  readonly retryAfter: number | undefined
  /** Set where the reply had begun: it may be billed. */
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

  /** Tells whether the same request may succeed later. */
  get retryable(): boolean {
    return ['rate_limit', 'network', 'server', 'broken_stream', 'unavailable'].includes(this.kind)
  }
}
