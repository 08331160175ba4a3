import type { Clock } from '../core/clock.ts'
import type { NewId } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import type { Model } from '../core/model.ts'
import type { Signals } from '../core/signals.ts'
import type { ToolBox } from '../core/tool-box.ts'
import type { Store } from '../store/open.ts'
import type { Tx } from '../store/writer.ts'
import type { KeptWindows } from './kept-windows.ts'
import type { TokenCounter } from './tokens.ts'

/** An agent as the runtime needs it. */
export interface RuntimeAgent {
  name: string
  prompt: string
  tools: readonly string[]
  /** The name of the model that thinks for it. */
  model: string
  /** Globs over tools whose calls need a person's yes, besides those of the config. */
  approve: readonly string[]
  limits: { steps: number; minutes: number }
  /** After so many milliseconds without a cycle it starts from summaries. */
  idleReset?: number | undefined
  conversations: readonly string[]
}

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
  windows: KeptWindows
  tokens: TokenCounter
}
