import type { Asker } from './forwarding.ts'
import type { ModelImage, ModelTool } from './model.ts'
import type { ToolAccess } from './tool-access.ts'

/** What a call gave: a text for the model and people, and the structured result where there is one. */
export interface ToolOutcome {
  text: string
  isError: boolean
  structured?: unknown
  images?: readonly ModelImage[] | undefined
}

/** Who calls, for tools that act on the agent itself. */
export interface CallContext {
  agent: string
  thread: string
  cycle: string
  /** The conversation that the cycle answers. */
  conversation: string | null
  now: number
  /** Runs after the commit of the call. */
  afterCommit(run: () => void): void
}

export interface ServerCallOptions {
  /** Whose call it is. */
  agent: string
  signal: AbortSignal
  idempotencyKey: string
  onProgress(message: string): void
  /** Answers what the server asks in the midst of the call. */
  asker?: Asker
}

/**
 * A tool by its name. A server's tool runs outside; `reads` says that it changes nothing, `repeatable` that running it
 * twice does no harm, `destructive` that running it twice may do harm that cannot be undone, `destroys` that its
 * annotations call it destructive, even once. A meta-tool runs inside the transaction that records its result, so that
 * it happens exactly once; `ends` says that it ends the cycle.
 */
export type AgentTool<Tx> =
  | {
      kind: 'server'
      reads: boolean
      repeatable: boolean
      destructive: boolean
      destroys: boolean
      call(args: Record<string, unknown>, options: ServerCallOptions): Promise<ToolOutcome>
    }
  | {
      kind: 'meta'
      ends: boolean
      run(tx: Tx, args: Record<string, unknown>, context: CallContext): Promise<ToolOutcome>
    }

/** All that an agent can call. Lists come in a stable order. */
export interface ToolBox<Tx> {
  /**
   * Those that a model is told of: how to find and call others too, and above a number of servers' tools only that,
   * unless `whole`.
   */
  list(access: ToolAccess, whole?: boolean): ModelTool[]
  /** Every server has its tools listed, or has failed once. */
  readonly settled: boolean
  /** What a call really asks for: of `call_tool` the tool that it names, with its arguments. */
  resolve(call: { name: string; arguments: string }): { name: string; arguments: string }
  /** Undefined where there is no such tool, or the access does not give it. */
  find(name: string, access: ToolAccess): AgentTool<Tx> | undefined
  /** Why a tool that the access gives is not there, where a server that may have it is not ready. */
  whyMissing(name: string, access: ToolAccess): string | undefined
  /** Resolves once no server that may have the tool is still starting; each has its time limit for that. */
  untilListed(name: string, signal: AbortSignal): Promise<void>
}
