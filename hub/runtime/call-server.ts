import type { TraceContext } from '../../schemas/trace.ts'
import { type Deadline, timeoutSignal } from '../core/clock.ts'
import type { AgentTool, ToolOutcome } from '../core/tool-box.ts'
import { findApproval } from '../store/approvals.ts'
import type { ApprovalRow, ToolCallRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import type { ActiveCycle } from './active-cycle.ts'
import { endApproval } from './answer-approval.ts'
import { measureCall, showCall, toPlace, toStatus, UNKNOWN } from './calls.ts'
import type { RuntimeDeps, Sample } from './deps.ts'
import { type AskingCall, openAsker } from './questions/ask-person.ts'
import { createSampling, toApprovedCall } from './questions/sampling.ts'

export interface ServerCall {
  row: ToolCallRow
  tool: Extract<AgentTool<Tx>, { kind: 'server' }>
  args: Record<string, unknown>
}

export type ServerCallDeps = Parameters<typeof createSampling>[0] &
  Pick<RuntimeDeps, 'newId' | 'signals' | 'background' | 'telemetry'>

/** The state of a call that goes on beside its cycle, because its server asked a person something. */
interface Detached {
  /** The question that the call waits for. */
  question: ApprovalRow
  /** The call's own deadline. */
  limit: Deadline
}

/**
 * Makes a call for a cycle. Returns undefined if its server asked a person during the call: it is written
 * down as waiting, and its outcome comes to the thread's inbox. Throws what the call throws, and the reason
 * of `signal`.
 */
export async function callServer(
  deps: ServerCallDeps,
  cycle: ActiveCycle,
  { row, tool, args }: ServerCall,
  signal: AbortSignal,
): Promise<ToolOutcome | undefined> {
  const { agent } = cycle
  // The call ends with the cycle or, once it is detached, with its own deadline and the hub.
  const abort = new AbortController()
  const leaveCycle = follow(abort, signal)
  const gone = Promise.withResolvers<void>()
  let detached: Detached | undefined
  const guard = async (tx: Tx) => {
    if (!detached) await cycle.guard(tx)
  }
  const asking: AskingCall = {
    agent: agent.name,
    thread: cycle.thread,
    cycle: cycle.id,
    power: cycle.power,
    conversation: cycle.placeOfPeople(),
    row,
    isAwaited: () => detached === undefined,
    guard,
    detach(question) {
      const limit = timeoutSignal(deps.clock, agent.limits.minutes * 60_000, row.tool)
      leaveCycle()
      for (const each of [deps.background.stopping, limit.signal]) follow(abort, each)
      cycle.resting = 'waiting'
      detached = { question, limit }
      gone.resolve()
    },
    pause: () => detached?.limit.hold() ?? (() => 0),
  }
  // The cycle pays for sampling while it waits for the call, later the agent does.
  const inCycle = createSampling(deps, { account: cycle.account, guard, stop: cycle.stop })
  const beside = createSampling(deps, toApprovedCall(agent, cycle.id))
  const run = async (trace: TraceContext | undefined) => {
    const sample: Sample = (params, ended) => (detached ? beside : inCycle)(params, ended)
    await using requester = openAsker(deps, asking, tool.samples ? sample : undefined)
    return await tool.call(args, {
      agent: agent.name,
      power: cycle.power,
      signal: abort.signal,
      idempotencyKey: row.id,
      trace,
      onProgress: message => showCall(cycle.signals, toPlace(cycle), row, 'started', message),
      requester,
    })
  }
  const done = measureCall(deps.telemetry, row, cycle.account.trace, run)
  try {
    await Promise.race([done, gone.promise])
  } finally {
    leaveCycle()
  }
  if (!detached) return await done
  deps.background.add(settle(deps, row, detached, done))
  return undefined
}

/** Aborts the controller when the signal does, until the returned function is called. */
function follow(abort: AbortController, signal: AbortSignal): () => void {
  const onAbort = () => abort.abort(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true, signal: abort.signal })
  return () => signal.removeEventListener('abort', onAbort)
}

/** Posts the outcome of a call that went on beside its cycle. If the hub ends first, its next start does. */
async function settle(
  deps: ServerCallDeps,
  call: ToolCallRow,
  { question: { id }, limit }: Detached,
  done: Promise<ToolOutcome>,
): Promise<void> {
  const ended = await done
    .then(outcome => ({ status: toStatus(outcome), outcome }))
    .catch(error => {
      if (deps.background.stopping.aborted) return undefined
      deps.log.error('asking_call_failed', { approval: id, error })
      return { status: 'unknown' as const, outcome: UNKNOWN }
    })
    .finally(limit.cancel)
  const approval = ended && (await findApproval(deps.store.db, id))
  if (approval) await endApproval(deps, { approval, call, ...ended })
}
