import type { Power, ToolFacts } from '../../schemas/power.ts'
import type { TraceContext } from '../../schemas/trace.ts'
import type { Requester } from './forwarding.ts'
import type { ModelImage, ModelTool } from './model.ts'
import type { ToolAccess } from './tool-access.ts'

/** Outcome of a call: a text for the model and people, and the structured result where there is one. */
export interface ToolOutcome {
  text: string
  isError: boolean
  structured?: unknown
  images?: readonly ModelImage[] | undefined
  /** True if it shows text that comes from outside. */
  foreign?: true | undefined
}

/** The caller, for tools that act on the agent itself. */
export interface CallContext {
  agent: string
  thread: string
  cycle: string
  /** Power of the cycle, which what the tool leaves behind inherits. */
  power: Power
  /** Whether the cycle has read text from outside. */
  hasReadForeign: boolean
  /** Conversation that the cycle answers. */
  conversation: string | null
  now: number
  /** IANA time zone of the person who is answered, else of the hub. */
  timezone: string
  afterCommit(run: () => void): void
}

export interface ServerCallOptions {
  agent: string
  power: Power
  signal: AbortSignal
  idempotencyKey: string
  /** Trace that the server's part belongs to. */
  trace?: TraceContext | undefined
  onProgress(message: string): void
  /** Answers the server's requests during the call. */
  requester?: Requester
}

/**
 * A tool by its name. A server's tool runs outside; `reads` says that it changes nothing, `repeatable` that
 * running it twice does no harm, `destructive` that running it twice may do harm that cannot be undone. A
 * meta-tool runs inside the transaction that records its result, so that it happens exactly once; `ends` says
 * that it ends the cycle.
 */
export type AgentTool<Tx> =
  | {
      kind: 'server'
      reads: boolean
      repeatable: boolean
      destructive: boolean
      facts: ToolFacts
      /** Whether its server may have the agent's model write for it. */
      samples: boolean
      call(args: Record<string, unknown>, options: ServerCallOptions): Promise<ToolOutcome>
    }
  | {
      kind: 'meta'
      ends: boolean
      run(tx: Tx, args: Record<string, unknown>, context: CallContext): Promise<ToolOutcome>
    }

/** All tools that an agent can call. Lists have a stable order. */
export interface ToolBox<Tx> {
  /**
   * Returns the tools that a model sees. They include the tools that find and call others; above a number of
   * servers' tools only those two are listed for servers, unless `whole`.
   */
  list(access: ToolAccess, whole?: boolean): ModelTool[]
  /** True once every server has listed its tools or failed once. */
  readonly settled: boolean
  /** Returns the call that is really meant: for `call_tool`, the tool that it names, with its arguments. */
  resolve(call: { name: string; arguments: string }): { name: string; arguments: string }
  /** Returns undefined where there is no such tool, or the access does not include it. */
  find(name: string, access: ToolAccess): AgentTool<Tx> | undefined
  /** Returns why a tool of the access is missing, where a server that may have it is not ready. */
  whyMissing(name: string, access: ToolAccess): string | undefined
  /** Resolves once no server that may have the tool is still starting; each has a time limit for that. */
  untilListed(name: string, signal: AbortSignal): Promise<void>
}
