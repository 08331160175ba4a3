// What the modules of the page hand each other. Only read by editors and by `tsc --checkJs`; nothing loads it.

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
    cycle?: string | number
    call?: string
    tool?: string
    status?: string
    arguments?: string
    attempt?: number
    of?: number
    retryAt?: number
    retryable?: boolean
  }
}

/** A tool call that has no durable message yet. */
export interface Call {
  id: string
  tool: string
  status: string
  summary?: string
}

/** What a running cycle has shown so far. `restart`: the next delta begins a new text. */
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
}

export interface Conversation {
  id: string
  agents: string[]
  /** The newest sequence number the hub told of. */
  lastSeq: number
  /** Messages up to here are not loaded (0: all are). */
  base: number
  /** Where a subscription resumes: everything in (base, seen] was delivered. */
  seen: number
  /** The newest number that was applied: an older one is history and ends nothing that is live. */
  reached: number
  /** Until `seen` gets here, what arrives is backlog. */
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

/** What the frames of the hub add up to. */
export interface ChatState {
  hub: { name: string; version: string } | null
  agents: Record<string, Agent>
  conversations: Record<string, Conversation>
  problem: { text: string; at: number } | null
}

export type Frame = { type: string } & Record<string, unknown>

/** How the page is connected. `refused` is final until there is a new token. */
export type Link =
  | { status: 'connecting'; attempt: number }
  | { status: 'open' }
  | { status: 'waiting'; attempt: number; retryAt: number; cause: Probe }
  | { status: 'refused'; cause: Probe }

/** Why a connection did not come about, as far as a plain request can tell. */
export type Probe = 'lost' | 'unreachable' | 'unauthorized' | 'forbidden' | 'no-socket'

/** Time and timers, so that tests bring their own. */
export interface Clock {
  now(): number
  after(delay: number, run: () => void): () => void
}

export interface Store<Value> {
  get(): Value
  set(next: Value): void
  subscribe(listener: () => void): () => void
}
