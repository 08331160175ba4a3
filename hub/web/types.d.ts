// These types are what the page's modules pass to each other. Only editors and `tsc --checkJs` read them.

/** A durable message, as in CONTRACT.md. `seq` grows by conversation without gaps; times are unix milliseconds. */
export interface Message {
  seq: number
  id: string
  conversation: string
  kind: 'user' | 'agent' | 'tool' | 'notice' | 'error'
  author: string
  text: string
  at: number
  clientId?: string
  inReplyTo?: string[]
  data?: {
    images?: Picture[]
    cycle?: string | number
    call?: string
    tool?: string
    status?: string
    arguments?: string
    attempt?: number
    of?: number
    retryAt?: number
    retryable?: boolean
    /** True where the provider cannot be reached: the cycle resumes by itself once it can. */
    parked?: boolean
    /** Id of the dead letter that a failure became. */
    deadLetter?: string
    /** Id of the approval that a call waits for. */
    approval?: string
  }
}

export type Decision = 'approve' | 'deny'

/** A call that needs a person's approval. `arguments` is exactly what runs. */
export interface Approval {
  id: string
  agent: string
  tool: string
  arguments: Record<string, unknown>
  reason: string
  expiresAt: number
  status: 'open' | 'approved' | 'denied' | 'expired'
  question?: boolean
  conversation?: string
  decidedBy?: string
  decidedWhere?: string
  decidedAt?: number
  note?: string
}

/** A tool call that has no durable message yet. */
export interface Call {
  id: string
  tool: string
  status: string
  summary?: string
}

/** The visible state of a running cycle. `restart`: the next delta begins a new text. */
export interface LiveCycle {
  cycle: string
  text: string
  restart: boolean
  calls: Call[]
}

/** A message of this browser that the hub has not acknowledged. `refused` holds the hub's reason. */
export interface Pending {
  clientId: string
  conversation: string
  text: string
  at: number
  refused?: string
  images?: Picture[]
}

/** A picture; `data` is base64. */
export interface Picture {
  mimeType: string
  data: string
}

export interface Conversation {
  id: string
  agents: string[]
  /** Newest sequence number that the hub reported. */
  lastSeq: number
  /** Messages up to here are not loaded (0: all are). */
  base: number
  /** Number after which a subscription resumes: everything in (base, seen] was delivered. */
  seen: number
  /** Newest number that was applied: an older message is history and ends nothing that is live. */
  reached: number
  /** Number up to which arriving messages are backlog. */
  target: number
  opened: boolean
  messages: Message[]
  pending: Pending[]
  live: LiveCycle[]
}

export interface Agent {
  name: string
  description: string
  status: string
}

/** `held`: when the crash-loop guard stopped all agents. */
export interface Hub {
  name: string
  version: string
  held?: number
}

export interface Problem {
  text: string
  at: number
}

/** The state that the hub's frames add up to. */
export interface ChatState {
  hub: Hub | null
  agents: Record<string, Agent>
  conversations: Record<string, Conversation>
  approvals: Record<string, Approval>
  /** Answers of this page that the hub has not confirmed yet. */
  deciding: Record<string, Decision>
  problem: Problem | null
}

export type Frame = { type: string } & Record<string, unknown>

/** A frame of the hub, as in CONTRACT.md. */
export type HubFrame =
  | { type: 'welcome'; hub: Hub; agents: Agent[]; conversations: Told[] }
  | { type: 'subscribed'; conversation: string; lastSeq: number }
  | { type: 'accepted'; clientId: string; message: Message }
  | { type: 'message'; message: Message }
  | { type: 'delta'; conversation: string; cycle: string; text: string }
  | { type: 'tool'; conversation: string; cycle: string; call: Call }
  | { type: 'agent'; name: string; status: string }
  | { type: 'approval'; approval: Approval }
  | { type: 'pong' }
  | ErrorFrame

export type Told = Pick<Conversation, 'id' | 'agents' | 'lastSeq'>

export interface ErrorFrame {
  type: 'error'
  code: string
  message: string
  clientId?: string
}

/** State of the page's connection. `refused` is final until there is a new token. */
export type Link =
  | { status: 'connecting'; attempt: number }
  | { status: 'open' }
  | { status: 'waiting'; attempt: number; retryAt: number; cause: Probe }
  | { status: 'refused'; cause: Probe }

/** Reason why a connection failed, as far as a plain request can tell. */
export type Probe = 'lost' | 'unreachable' | 'unauthorized' | 'forbidden' | 'no-socket'

/** Time and timers, which tests replace. */
export interface Clock {
  now(): number
  after(delay: number, run: () => void): () => void
}

/** The hub's tools, through `/mcp`. */
export interface Mcp {
  /** Resolves with the structured result; throws nothing but McpError. */
  call<Result>(name: string, args?: Record<string, unknown>): Promise<Result>
  discover(): Promise<unknown>
}

export interface Outbox {
  put(pending: Pending): void
  remove(clientId: string): void
  list(): Pending[]
}

/** The object that an element's `ref` fills. */
export interface Ref<Value extends HTMLElement> {
  current: Value | null
}

export interface Store<Value> {
  get(): Value
  set(next: Value): void
  subscribe(listener: () => void): () => void
}

export type Session = ReturnType<typeof import('./session.js').createSession>
export type PanelData = ReturnType<typeof import('./panel-data.js').createPanelData>
export type McpError = import('./mcp.js').McpError
export type Row = import('./rows.js').Row
export type Child = import('preact').ComponentChildren
