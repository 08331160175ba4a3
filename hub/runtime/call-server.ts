import { type Deadline, timeoutSignal } from '../core/clock.ts'
import type { AgentTool, ToolOutcome } from '../core/tool-box.ts'
import { findApproval } from '../store/approvals.ts'
import { fencedWrite } from '../store/history.ts'
import type { ApprovalRow, ToolCallRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import { type Answered, announceAnswer, answerApproval } from './answer-approval.ts'
import { placeOfPeople } from './ask-approval.ts'
import { showCall, toStatus, UNKNOWN } from './calls.ts'
import { type Claim, LEASE_MS } from './claim.ts'
import type { RuntimeDeps, Sample } from './deps.ts'
import type { Party } from './questions/ask-person.ts'
import { openAsker } from './questions/asker.ts'
import { createSampling, toApprovedCall } from './questions/sampling.ts'

export interface ServerCall {
  row: ToolCallRow
  tool: Extract<AgentTool<Tx>, { kind: 'server' }>
  args: Record<string, unknown>
}

/** A call of a cycle. Once its server has asked a person something, the call goes on beside the cycle. */
interface RunningCall extends ServerCall {
  /** Ends the call: together with the cycle or, once it is detached, with its own deadline and the hub. */
  abort: AbortController
  /** Stops listening to the cycle's end. */
  leaveCycle(): void
  /** The question that the call waits for while the cycle goes on. */
  question?: ApprovalRow
  /** The call's own deadline, once it is detached. */
  limit?: Deadline
  detached: PromiseWithResolvers<void>
}

/**
 * Makes a call for a cycle. Returns undefined if its server asked a person during the call: it is written
 * down as waiting, and its outcome comes to the thread's inbox. Throws what the call throws, and the reason
 * of `signal`.
 */
export async function callServer(
  deps: RuntimeDeps,
  claim: Claim,
  call: ServerCall,
  signal: AbortSignal,
): Promise<ToolOutcome | undefined> {
  const abort = new AbortController()
  const onAbort = () => abort.abort(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  const leaveCycle = () => signal.removeEventListener('abort', onAbort)
  const running: RunningCall = { ...call, abort, leaveCycle, detached: Promise.withResolvers() }
  const done = run(deps, claim, running)
  try {
    await Promise.race([done, running.detached.promise])
  } finally {
    leaveCycle()
  }
  if (!running.question) return await done
  deps.background.add(settle(deps, running, running.question, done))
  return undefined
}

async function run(deps: RuntimeDeps, claim: Claim, call: RunningCall): Promise<ToolOutcome> {
  const { row, tool, args, abort } = call
  const party = toParty(deps, claim, call)
  await using asker = openAsker(deps, party, createSample(deps, claim, call, party))
  return await tool.call(args, {
    agent: claim.agent.name,
    signal: abort.signal,
    idempotencyKey: row.id,
    onProgress: message => showCall(deps, claim, row, 'started', message),
    asker,
  })
}

/** Creates the call's sampling. The cycle pays for it while it waits for the call, later the agent does. */
function createSample(deps: RuntimeDeps, claim: Claim, call: RunningCall, { guard }: Party): Sample {
  const inCycle = createSampling(deps, { payer: claim, guard, stop: claim.stop })
  const beside = createSampling(deps, toApprovedCall(claim.agent, claim.cycle))
  return (params, signal) => (call.question ? beside : inCycle)(params, signal)
}

function toParty(deps: RuntimeDeps, claim: Claim, call: RunningCall): Party {
  return {
    agent: claim.agent.name,
    thread: claim.thread,
    cycle: claim.cycle,
    conversation: placeOfPeople(claim),
    row: call.row,
    isAwaited: () => call.question === undefined,
    async guard(tx) {
      if (call.question) return
      const now = deps.clock.now()
      await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
    },
    detach(question) {
      const { abort, row } = call
      const { stopping } = deps.background
      const limit = timeoutSignal(deps.clock, claim.agent.limits.minutes * 60_000, row.tool)
      call.leaveCycle()
      for (const signal of [stopping, limit.signal]) {
        if (signal.aborted) abort.abort(signal.reason)
        signal.addEventListener('abort', () => abort.abort(signal.reason), {
          once: true,
          signal: abort.signal,
        })
      }
      claim.resting = 'waiting'
      call.question = question
      call.limit = limit
      call.detached.resolve()
    },
    rest: () => call.limit?.hold() ?? (() => 0),
  }
}

/** Posts the outcome of a call that went on beside its cycle. If the hub ends first, its next start does. */
async function settle(
  deps: RuntimeDeps,
  call: RunningCall,
  { id }: ApprovalRow,
  done: Promise<ToolOutcome>,
): Promise<void> {
  const { row, limit } = call
  let ended: Pick<Answered, 'status' | 'outcome'>
  try {
    const outcome = await done
    ended = { status: toStatus(outcome), outcome }
  } catch (error) {
    if (deps.background.stopping.aborted) return
    deps.log.error('asking_call_failed', { approval: id, error })
    ended = { status: 'unknown', outcome: UNKNOWN }
  } finally {
    limit?.cancel()
  }
  const approval = await findApproval(deps.store.db, id)
  if (!approval) return
  const answered = { approval, call: row, ...ended }
  announceAnswer(deps, answered, await deps.store.write(tx => answerApproval(deps, tx, answered)))
}
