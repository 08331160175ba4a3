import { type Deadline, timeoutSignal } from '../core/clock.ts'
import { toSentence } from '../core/text.ts'
import type { AgentTool } from '../core/tool-box.ts'
import { callOfApproval, findApproval } from '../store/approvals.ts'
import { startCall } from '../store/ledger.ts'
import type { ApprovalRow, ToolCallRow } from '../store/tables.ts'
import { agentOfThread, hasEnded } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import {
  type Answered,
  type ApprovalDeps,
  announceAnswer,
  answerApproval,
  placeOf,
} from './answer-approval.ts'
import { hashArguments, parseArguments } from './arguments.ts'
import { showCall, toStatus, UNKNOWN } from './calls.ts'
import type { RuntimeAgent } from './deps.ts'
import type { Party } from './questions/ask-person.ts'
import { openAsker } from './questions/asker.ts'

type Ended = Pick<Answered, 'status' | 'outcome'>
type ServerTool = Extract<AgentTool<Tx>, { kind: 'server' }>

/** The plan for an approved call: to run it, or nothing, since its end is clear. */
type Plan =
  | { kind: 'run'; tool: ServerTool; args: Record<string, unknown>; agent: RuntimeAgent }
  | { kind: 'clear'; ended: Ended }

/**
 * Runs the call of an approval that a person gave, once, and posts its outcome. A call that an earlier run of
 * the hub had started runs again only if its tool is repeatable. Throws when `stopping` aborts; the rest then
 * waits for the next start.
 */
export async function runApproved(deps: ApprovalDeps, id: string, stopping: AbortSignal): Promise<void> {
  const { db } = deps.store
  const approval = await findApproval(db, id)
  if (!approval || approval.answered_at !== null) return
  const call = await callOfApproval(db, approval)
  await deps.toolBox.untilListed(call.tool, stopping)
  const plan = decidePlan(deps, approval, call)
  stopping.throwIfAborted()
  const ended = plan.kind === 'clear' ? plan.ended : await runOnce(deps, { approval, call, plan }, stopping)
  const answered = { approval, call, ...ended }
  const message = await deps.store.write(tx => answerApproval(deps, tx, answered))
  announceAnswer(deps, answered, message)
}

function decidePlan(deps: ApprovalDeps, approval: ApprovalRow, call: ToolCallRow): Plan {
  const agent = deps.agent(approval.agent)
  const tool = agent && deps.toolBox.find(call.tool, agent.tools)
  const mayRepeat = tool?.kind === 'server' && tool.repeatable
  if (call.status === 'started' && !mayRepeat) {
    return { kind: 'clear', ended: { status: 'unknown', outcome: UNKNOWN } }
  }
  if (!agent || tool?.kind !== 'server') {
    const why = agent && deps.toolBox.whyMissing(call.tool, agent.tools)
    if (why !== undefined) return fail(`${toSentence(why)} It did not run.`)
    return fail(`There is no tool ${call.tool} for the agent ${approval.agent} any more; it did not run.`)
  }
  const args = parseArguments(call.arguments)
  if (!args || hashArguments(call.arguments) !== approval.arguments_hash) {
    return fail(`${call.tool} did not run: its arguments are not those that were approved.`)
  }
  return { kind: 'run', tool, args, agent }
}

function fail(text: string): Plan {
  return { kind: 'clear', ended: toFailure(text) }
}

function overBefore(call: ToolCallRow): Ended {
  return toFailure(`${call.tool} did not run: its task has ended.`)
}

function toFailure(text: string): Ended {
  return { status: 'error', outcome: { text, isError: true } }
}

interface Run {
  approval: ApprovalRow
  call: ToolCallRow
  plan: Extract<Plan, { kind: 'run' }>
}

async function runOnce(
  deps: ApprovalDeps,
  { approval, call, plan: { tool, args, agent } }: Run,
  stopping: AbortSignal,
): Promise<Ended> {
  const hasBegun = await deps.store.write(async tx => {
    const isOver = call.status === 'planned' && (await hasEnded(tx, approval.thread_id))
    if (!isOver) await startCall(tx, call.id, deps.clock.now())
    return !isOver
  })
  if (!hasBegun) return overBefore(call)
  const show = (text?: string) => showCall(deps, placeOf(approval), call, 'started', text)
  show()
  const deadline = timeoutSignal(deps.clock, agent.limits.minutes * 60_000, call.tool)
  const signal = AbortSignal.any([stopping, deadline.signal])
  try {
    const name = agentOfThread(approval.thread_id)
    const sample = deps.sampleFor(agent, approval.cycle_id)
    await using asker = openAsker(deps, toParty(approval, call, deadline), sample)
    const outcome = await tool.call(args, {
      agent: name,
      signal,
      idempotencyKey: call.id,
      onProgress: show,
      asker,
    })
    return { status: toStatus(outcome), outcome }
  } catch (error) {
    // A call that its time limit cut may have had its effect.
    stopping.throwIfAborted()
    deps.log.error('approved_call_failed', { approval: approval.id, error })
    return { status: 'unknown', outcome: UNKNOWN }
  } finally {
    deadline.cancel()
  }
}

/** Returns the principal of an approved call, for which no cycle waits. */
function toParty(
  { agent, thread_id, cycle_id, conversation_id }: ApprovalRow,
  row: ToolCallRow,
  limit: Deadline,
): Party {
  return {
    agent,
    thread: thread_id,
    cycle: cycle_id,
    conversation: conversation_id,
    row,
    isAwaited: () => false,
    guard: async () => undefined,
    detach: () => undefined,
    rest: () => limit.hold(),
  }
}
