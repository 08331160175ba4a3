// Types of results of the hub's own tools, as far as the panel shows them. Times are unix milliseconds.

export interface ListedAgent {
  name: string
  description: string
  status: string
  threads: number
  pending: number
  lastCycleAt: number | null
  tokensToday: number
  moneyToday?: number
  windowTokens?: number
}

export interface Schedule {
  id: string
  agent: string
  kind: 'once' | 'cron'
  cron?: string
  timezone?: string
  reason: string
  /** Null where only an event fires it. */
  nextRun: number | null
  status: string
}

export interface Server {
  name: string
  state: string
  origin?: string
  transport?: string
  era?: string
  tools: number
  error?: string
  nextTryAt?: number
  collisions?: string[]
  /** Number of sessions with a process of their own. */
  sessions?: number
}

/** A day's use of a limit, if there is one. */
export interface Used {
  used: number
  limit?: number
}

export interface Budgets {
  currency?: string
  tokens: Used
  money: Used
  agents: { name: string; tokens: Used; money: Used; wakes: Used }[]
}

/** A model's provider. */
export interface Provider {
  name: string
  state: 'ok' | 'down' | 'trying'
  retryAt?: number
  error?: string
}

export interface HubStatus {
  hub: { name: string; version: string; uptimeMs: number }
  model?: { kind: string; name: string; health?: Provider[]; parked?: number }
  servers: Server[]
  /** Servers that have been down for over ten minutes. */
  serversDown?: { name: string; since: number }[]
  queues?: { busy: number; waiting: number }
  budgets?: Budgets
  held?: { since: number; until: number }
  problems: string[]
}

/** Work that failed for good. */
export interface DeadLetter {
  id: string
  agent: string
  thread: string
  status: 'open' | 'retried' | 'discarded'
  reason: string
  error?: { code: string; status?: number; message: string }
  /** True where the same may succeed later without a change. */
  retryable: boolean
  at: number
  conversation: string | null
  items: { kind: string; origin: string; text: string; at: number }[]
  calls: { tool: string; arguments: string; status: string }[]
}

export interface EventSeen {
  id: string
  source: string
  type: string
  key: string
  payload: Record<string, unknown>
  status: 'pending' | 'processing' | 'handled' | 'ignored' | 'held'
  /** Ids of threads. */
  routedTo: string[]
  note?: string
  repeats: number
  at: number
}

/** A part of a thread's history in which a search found something. */
export interface FoundSession {
  session: {
    thread: string
    number: number
    startedAt: number
    endedAt: number
    messages: number
    reason: string
    summary: string
  }
  snippets: { at: number; role: string; text: string }[]
}

export interface ThreadListed {
  id: string
  agent: string
  kind: 'main' | 'task'
  status: string
  createdAt: number
  updatedAt: number
  /** Number of items in its inbox. */
  pending: number
  cycles: number
  instructions?: string
  /** Summary that a task gave at its end. */
  summary?: string
}

/** The cycles of a thread, the oldest first. */
export interface ThreadAudit {
  thread: ThreadListed
  cycles: AuditCycle[]
}

export interface AuditCycle {
  id: string
  status: string
  startedAt: number
  endedAt?: number
  note?: string
  model?: string
  tokens: { input: number; output: number; cached: number }
  cost: number
  /** Items that woke the agent. */
  inbox: { at: number; text: string }[]
  steps: AuditStep[]
}

export interface AuditStep {
  step: number
  text: string
  calls: AuditCall[]
}

export interface AuditCall {
  id: string
  tool: string
  arguments: string
  status: string
  result?: string
}
