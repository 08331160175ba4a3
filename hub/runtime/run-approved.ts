import { timeoutSignal } from '../core/clock.ts'
import { toSentence } from '../core/text.ts'
import { callOfApproval, findApproval, takeApproved } from '../store/approvals.ts'
import { hashArguments, parseArguments } from '../store/arguments.ts'
import { startCall } from '../store/ledger.ts'
import type { ApprovalRow, ToolCallRow } from '../store/tables.ts'
import { agentOfThread, hasEnded } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import { type Answered, endApproval, placeOf } from './answer-approval.ts'
import type { ServerCall } from './call-server.ts'
import { measureCall, showCall, toStatus, UNKNOWN } from './calls.ts'
import type { RuntimeAgent, RuntimeDeps, SampleFor } from './deps.ts'
import { openAsker } from './questions/ask-person.ts'

export type ApprovalDeps = Pick<
  RuntimeDeps,
  'store' | 'clock' | 'newId' | 'log' | 'signals' | 'telemetry' | 'toolBox' | 'agent' | 'owner'
> & { sampleFor: SampleFor; zone: { readonly timezone: string } }

/** Milliseconds until another process may take a call over: no call takes as long, with its questions. */
const LEASE_MS = 25 * 3_600_000

type Ended = Pick<Answered, 'status' | 'outcome'>

/** The plan for an approved call: to run it, or nothing, since its end is clear. */
type Plan = { run: Omit<ServerCall, 'row'> & { agent: RuntimeAgent } } | { ended: Ended }

/**
 * Runs the call of an approval that a person gave, once, and posts its outcome. A call that an earlier run of
 * the hub had started runs again only if its tool is repeatable. Throws when `stopping` aborts; the rest then
 * waits for the next start.
 */
export async function runApproved(deps: ApprovalDeps, id: string, stopping: AbortSignal): Promise<void> {
  const tool = (await findApproval(deps.store.db, id))?.tool
  if (tool === undefined) return
  await deps.toolBox.untilListed(tool, stopping)
  stopping.throwIfAborted()
  const taken = await deps.store.write(tx => take(deps, tx, id))
  if (!taken) return
  const { approval, call, plan } = taken
  const ended = 'ended' in plan ? plan.ended : await run(deps, approval, { row: call, ...plan.run }, stopping)
  await endApproval(deps, { approval, call, ...ended })
}

/** Takes the call and records that it begins; undefined if another process has it, or it ended. */
async function take(
  deps: ApprovalDeps,
  tx: Tx,
  id: string,
): Promise<{ approval: ApprovalRow; call: ToolCallRow; plan: Plan } | undefined> {
  const now = deps.clock.now()
  const approval = await takeApproved(tx, { id, owner: deps.owner, until: now + LEASE_MS, now })
  if (!approval) return undefined
  const call = await callOfApproval(tx, approval)
  const plan = decidePlan(deps, approval, call)
  if ('ended' in plan || call.status === 'started') return { approval, call, plan }
  if (await hasEnded(tx, approval.thread_id))
    return { approval, call, plan: fail(`${call.tool} did not run: its task has ended.`) }
  return (await startCall(tx, call.id, now)) ? { approval, call, plan } : undefined
}

function decidePlan(deps: ApprovalDeps, approval: ApprovalRow, call: ToolCallRow): Plan {
  const agent = deps.agent(approval.agent)
  const tool = agent && deps.toolBox.find(call.tool, agent.tools)
  const mayRepeat = tool?.kind === 'server' && tool.repeatable
  if (call.status === 'started' && !mayRepeat) return { ended: { status: 'unknown', outcome: UNKNOWN } }
  if (!agent || tool?.kind !== 'server') {
    const why = agent && deps.toolBox.whyMissing(call.tool, agent.tools)
    if (why !== undefined) return fail(`${toSentence(why)} It did not run.`)
    return fail(`There is no tool ${call.tool} for the agent ${approval.agent} any more; it did not run.`)
  }
  const args = parseArguments(call.arguments)
  if (!args || hashArguments(call.arguments) !== approval.arguments_hash) {
    return fail(`${call.tool} did not run: its arguments are not those that were approved.`)
  }
  return { run: { tool, args, agent } }
}

function fail(text: string): Plan {
  return { ended: { status: 'error', outcome: { text, isError: true } } }
}

async function run(
  deps: ApprovalDeps,
  approval: ApprovalRow,
  { row, tool, args, agent }: ServerCall & { agent: RuntimeAgent },
  stopping: AbortSignal,
): Promise<Ended> {
  const show = (text?: string) => showCall(deps.signals, placeOf(approval), row, 'started', text)
  show()
  const deadline = timeoutSignal(deps.clock, agent.limits.minutes * 60_000, row.tool)
  // No cycle waits for an approved call.
  const asking = {
    agent: approval.agent,
    thread: approval.thread_id,
    cycle: approval.cycle_id,
    power: approval.power,
    conversation: approval.conversation_id,
    row,
    isAwaited: () => false,
    guard: async () => undefined,
    detach: () => undefined,
    pause: () => deadline.hold(),
  }
  try {
    await using requester = openAsker(
      deps,
      asking,
      tool.samples ? deps.sampleFor(agent, approval.cycle_id) : undefined,
    )
    const outcome = await measureCall(deps.telemetry, row, undefined, trace =>
      tool.call(args, {
        agent: agentOfThread(approval.thread_id),
        power: approval.power,
        signal: AbortSignal.any([stopping, deadline.signal]),
        idempotencyKey: row.id,
        trace,
        onProgress: show,
        requester,
      }),
    )
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
