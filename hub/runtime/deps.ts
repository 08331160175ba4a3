import type { Power, ToolFacts } from '../../schemas/power.ts'
import type { Clock } from '../core/clock.ts'
import type { JsonObject } from '../core/forwarding.ts'
import type { NewId } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import type { Model, Price } from '../core/model.ts'
import type { Signals } from '../core/signals.ts'
import type { Telemetry } from '../core/telemetry.ts'
import type { ToolAccess } from '../core/tool-access.ts'
import type { ToolBox } from '../core/tool-box.ts'
import type { Store } from '../store/open.ts'
import type { Tx } from '../store/writer.ts'
import type { Meter } from './limits/meter.ts'
import type { TokenCounter } from './tokens.ts'
import type { ToolLists } from './tool-lists.ts'

/** An agent as the runtime needs it. */
export interface RuntimeAgent {
  name: string
  prompt: string
  tools: ToolAccess
  /** The name of the agent's model. */
  model: string
  /** Globs over tools whose calls need a person's yes, besides those of the config. */
  approve: readonly string[]
  /** Globs over tools that the agent may call without asking, if no text from outside began the cycle. */
  grants: readonly string[]
  limits: RuntimeLimits
  /** Milliseconds without a cycle after which the agent starts from summaries. */
  idleReset?: number | undefined
  conversations: readonly string[]
  /** The task, if this is the agent as one of its tasks has it. */
  task?: {
    id: string
    conversation: string | null
    mayMakeTasks: boolean
    /** The schema that the task's result must fit. */
    schema?: JsonObject | undefined
  }
}

/**
 * Limits that are left out do not apply. Tokens are input and output together, of which cached ones count a
 * tenth; money is in the currency of the prices.
 */
export interface RuntimeLimits {
  /** Steps of one cycle. */
  steps: number
  minutes: number
  tokens?: number | undefined
  /** Calls of tools in one cycle. */
  calls?: number | undefined
  /** Tasks that are open at once. */
  tasks: number
  wakesPerDay?: number | undefined
  tokensPerDay?: number | undefined
  moneyPerDay?: number | undefined
}

/** Decides whether a call of a server's tool runs, needs a person's yes, or is refused, with the reason. */
export type Policy = (question: {
  tool: ToolFacts
  power: Power
  agent: Pick<RuntimeAgent, 'name' | 'approve' | 'grants'>
  hasReadForeign: boolean
}) => { kind: 'run' | 'ask' | 'refuse'; reason: string; mayBeAllowed: boolean }

/** The limits of what all agents together may use in a day. */
export interface Budget {
  tokensPerDay?: number | undefined
  moneyPerDay?: number | undefined
  /** The currency of the prices; undefined if there are none. */
  currency?: string | undefined
  /** The highest prices of all models, as any of them may answer; undefined if no model has a price. */
  dearest?: Price | undefined
  /** The file in which the budget is written. */
  file: string
}

/** Answers a `sampling/createMessage` of a server. Throws the error that the server is told. */
export type Sample = (params: JsonObject, signal: AbortSignal) => Promise<JsonObject>

/** Creates the sampling of a call outside its agent's cycles; its usage is written down with `cycle`. */
export type SampleFor = (agent: RuntimeAgent, cycle: string) => Sample

/** Calls that go on beside the cycles that made them, until the hub ends. */
export interface Background {
  /** Aborts when the hub ends. */
  readonly stopping: AbortSignal
  /** Adds a run, so that the end of the hub waits for it; an error of the run is logged. */
  add(run: Promise<void>): void
}

export interface RuntimeDeps {
  store: Store
  clock: Clock
  newId: NewId
  random: () => number
  log: Log
  signals: Signals
  telemetry: Telemetry
  timezone: string
  toolBox: ToolBox<Tx>
  /** Decides what an agent's call may do. */
  policy: Policy
  /** Returns the model of that name. */
  model: (name: string) => Model
  /** Returns the model that writes summaries, if the config names one of its own. */
  compactionModel: () => Model | undefined
  /** Returns the agent; undefined if its file is gone. */
  agent: (name: string) => RuntimeAgent | undefined
  /** The id of this process as the owner of leases. */
  owner: string
  /** Resolves once it is stored that a cycle runs, so that a crash from now on counts. */
  noteCycle(): Promise<void>
  toolLists: ToolLists
  tokens: TokenCounter
  budget: () => Budget
  meter: Meter
  background: Background
}
