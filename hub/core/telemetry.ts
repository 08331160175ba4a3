import type { TraceContext } from '../../schemas/trace.ts'
import type { Clock } from './clock.ts'
import type { JsonObject } from './forwarding.ts'
import type { Log } from './log.ts'
import type { ModelReply, ModelRequest, ModelUsage } from './model.ts'
import type { Signals } from './signals.ts'
import { truncate } from './text.ts'

/** Tokens of a call of the model, and its price in millionths of the currency. */
export interface Spending extends ModelUsage {
  costMicros: number
  currency?: string | undefined
}

/** The operations that the hub measures: what each begins with, and what is known at its end besides. */
export interface Operations {
  /** A message of a person or a client, until it is on the disk. */
  message: { begin: { conversation: string }; end: object }
  cycle: {
    begin: {
      cycle: string
      thread: string
      agent: string
      conversation: string | null
      /** Milliseconds that each item waited for the cycle; empty if the cycle is resumed. */
      waits: readonly { kind: string; ms: number }[]
    }
    /** Steps since it began or was resumed. */
    end: { steps: number }
  }
  model: {
    begin: { cycle: string; agent: string; model: string; request: ModelRequest }
    end: { spending?: Spending | undefined; reply?: ModelReply | undefined }
  }
  tool: {
    /** `call` is the ledger's id of an agent's call. A call that waits or is refused ends as it begins. */
    begin: {
      caller: 'agent' | 'client'
      tool: string
      /** JSON text as a model wrote it, or a client's object. */
      arguments: string | JsonObject
      call?: string | undefined
      cycle?: string | undefined
    }
    end: { result?: string | undefined }
  }
}

export type OperationKind = keyof Operations

type Ended<Kind extends OperationKind> = {
  kind: Kind
  outcome: string
  seconds: number
} & Operations[Kind]['begin'] &
  Operations[Kind]['end']

export type EndedOperation = { [Kind in OperationKind]: Ended<Kind> }[OperationKind]

/** An operation that runs. */
export interface Span<Kind extends OperationKind> {
  /** Context for what the operation causes elsewhere; undefined where nothing is traced. */
  readonly trace: TraceContext | undefined
  /** Reports the end, once. `outcome` is one of few words, such as `ok`, `error`, `denied`. */
  end(outcome: string, facts: Operations[Kind]['end']): void
}

/** Reports operations to metrics, the log and, where an exporter is configured, to traces. Never throws. */
export interface Telemetry {
  /** Begins an operation; `parent` is the context of what caused it. */
  begin<Kind extends OperationKind>(
    kind: Kind,
    facts: Operations[Kind]['begin'],
    parent?: TraceContext | undefined,
  ): Span<Kind>
}

/** Traces go to this address. */
export interface TracesConfig {
  url: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  /** True if texts of people, models and tools are to be in the traces. */
  withContent: boolean
}

/** Traces operations. Never throws. */
export interface Tracer {
  begin<Kind extends OperationKind>(
    kind: Kind,
    facts: Operations[Kind]['begin'],
    parent: TraceContext | undefined,
  ): { readonly trace: TraceContext; end(ended: EndedOperation): void }
}

interface TelemetryDeps {
  clock: Pick<Clock, 'monotonic'>
  log: Log
  signals: Signals
  /** Missing where nothing is traced. */
  tracer?: Tracer | undefined
}

export function createTelemetry({ clock, log, signals, tracer }: TelemetryDeps): Telemetry {
  return {
    begin(kind, facts, parent) {
      const startedAt = clock.monotonic()
      const span = tracer?.begin(kind, facts, parent)
      const trace = span?.trace ?? parent
      return {
        trace,
        end(outcome, more) {
          const seconds = (clock.monotonic() - startedAt) / 1000
          const ended = { ...facts, ...more, kind, outcome, seconds } as unknown as EndedOperation
          signals.emit('operationEnded', ended)
          writeLine(log, ended, trace)
          span?.end(ended)
        },
      }
    },
  }
}

/** Characters of a tool's name: a client may call any. */
const LONGEST_NAME = 64

/** Writes the line of an operation; no text of anybody is in it. */
function writeLine(log: Log, ended: EndedOperation, trace: TraceContext | undefined): void {
  const { outcome, seconds } = ended
  const common = { outcome, ms: Math.round(seconds * 1000), trace: trace?.traceparent.split('-')[1] }
  if (ended.kind === 'cycle') {
    const { cycle, thread, agent, steps } = ended
    log.info('cycle_ended', { cycle, thread, agent, steps, ...common })
  } else if (ended.kind === 'model') {
    const { cycle, model, spending: { input, output, cachedInput } = {} } = ended
    log.info('model_called', { cycle, model, input, output, cachedInput, ...common })
  } else if (ended.kind === 'tool') {
    const { tool, caller, call, cycle } = ended
    // Programs call thousands of times a second, and a line costs a fifth of such a call.
    const isPlain = caller === 'client' && outcome === 'ok' && trace === undefined
    const level = isPlain ? 'debug' : 'info'
    log[level]('tool_called', { tool: truncate(tool, LONGEST_NAME), caller, call, cycle, ...common })
  }
}
