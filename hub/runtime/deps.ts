import type { Clock } from '../core/clock.ts'
import type { JsonObject } from '../core/forwarding.ts'
import type { NewId } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import type { Model, Price } from '../core/model.ts'
import type { Signals } from '../core/signals.ts'
import type { ToolAccess } from '../core/tool-access.ts'
import type { ToolBox } from '../core/tool-box.ts'
import type { Store } from '../store/open.ts'
import type { Tx } from '../store/writer.ts'
import type { Background } from './background.ts'
import type { KeptWindows } from './kept-windows.ts'
import type { Places } from './limits/hold.ts'
import type { Meter } from './limits/meter.ts'
import type { TokenCounter } from './tokens.ts'
import type { ToldTools } from './told-tools.ts'

/** An agent as the runtime needs it. */
export interface RuntimeAgent {
  name: string
  prompt: string
  tools: ToolAccess
  /** The name of the model that thinks for it. */
  model: string
  /** Globs over tools whose calls need a person's yes, besides those of the config. */
  approve: readonly string[]
  /** Names of destructive tools that it may call whoever began the cycle. */
  grants: readonly string[]
  limits: RuntimeLimits
  /** After so many milliseconds without a cycle it starts from summaries. */
  idleReset?: number | undefined
  conversations: readonly string[]
  /** Where this is the agent as one of its tasks has it. */
  task?: {
    id: string
    conversation: string | null
    mayMakeTasks: boolean
    /** What its result must fit. */
    schema?: JsonObject | undefined
  }
}

/** What is left out is not limited. Tokens are input and output together, of which what was cached counts a tenth; money is in the currency of the prices. */
export interface RuntimeLimits {
  /** Of one cycle. */
  steps: number
  minutes: number
  tokens?: number | undefined
  /** Calls of tools. */
  calls?: number | undefined
  /** At once. */
  tasks: number
  wakesPerDay?: number | undefined
  tokensPerDay?: number | undefined
  moneyPerDay?: number | undefined
}

/** What all agents together may use in a day. */
export interface Budget {
  tokensPerDay?: number | undefined
  moneyPerDay?: number | undefined
  /** Of the prices; undefined where there are none. */
  currency?: string | undefined
  /** What a call costs at most, whichever model answers; undefined where the model's own price is all there is. */
  dearest?: Price | undefined
  /** Where it is written. */
  file: string
}

/** Answers a `sampling/createMessage` of a server. Throws what the server is told. */
export type Sample = (params: JsonObject, signal: AbortSignal) => Promise<JsonObject>

/** For one call of an agent that runs outside its cycles; what it takes is written down with the one that asked. */
export type SampleFor = (agent: RuntimeAgent, cycle: string) => Sample

export interface RuntimeDeps {
  store: Store
  clock: Clock
  newId: NewId
  random: () => number
  log: Log
  signals: Signals
  timezone: string
  toolBox: ToolBox<Tx>
  /** Globs of the config over tools whose calls need a person's yes. */
  approve: () => readonly string[]
  /** The model of that name. */
  model: (name: string) => Model
  /** The model that writes summaries, where that is another. */
  compactionModel: () => Model | undefined
  /** Undefined for one whose file is gone. */
  agent: (name: string) => RuntimeAgent | undefined
  /** This process, as the owner of leases. */
  owner: string
  /** Resolves once it is stored that a cycle runs, so that a crash from now on counts. */
  noteCycle(): Promise<void>
  windows: KeptWindows
  toldTools: ToldTools
  tokens: TokenCounter
  budget: () => Budget
  meter: Meter
  places: Places
  background: Background
}
