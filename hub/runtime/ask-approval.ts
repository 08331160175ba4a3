import type { ChatMessage } from '../../schemas/chat.ts'
import { matchesGlobs } from '../core/glob.ts'
import type { AgentTool } from '../core/tool-box.ts'
import { createApproval, toApproval } from '../store/approvals.ts'
import { hadSucceeded, isDoubtful, waitCall } from '../store/ledger.ts'
import type { ApprovalRow, ToolCallRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import { hashArguments } from './arguments.ts'
import { showCall, tellCall, toWaiting } from './calls.ts'
import type { Claim } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { isOfPeople } from './is-of-people.ts'
import { publish } from './tell.ts'

/** Milliseconds that a person may take to answer. */
export const APPROVAL_MS = 24 * 3_600_000

const DOUBT =
  'the outcome of the same call before is unknown: it may have had its effect already, and repeating it may do harm'

const DONE_BEFORE =
  'the same call succeeded before the work that is tried again now failed: to run it again would do it twice'

/** Returns why a call of a server's tool needs a person's yes; undefined if it needs none. */
export async function whyApproval(
  deps: RuntimeDeps,
  tx: Tx,
  claim: Claim,
  { row, tool }: { row: ToolCallRow; tool: Extract<AgentTool<Tx>, { kind: 'server' }> },
): Promise<string | undefined> {
  const { agent, items, thread } = claim
  if (matchesGlobs(deps.approve(), row.tool)) return 'tools.approve of the config lists it'
  if (matchesGlobs(agent.approve, row.tool)) return `approve in agents/${agent.name}.md lists it`
  if (tool.destroys && !agent.grants.includes(row.tool) && !isOfPeople(items)) {
    return `it is destructive, and not only people's messages led to it (grants in agents/${agent.name}.md does not name it)`
  }
  if (wantsYes(claim, row)) return 'it was asked to wait for a yes'
  if (tool.reads) return undefined
  const call = { thread, cycle: claim.cycle, tool: row.tool, hash: hashArguments(row.arguments) }
  if (tool.destructive && (await isDoubtful(tx, call))) return DOUBT
  return (await hadSucceeded(tx, call)) ? DONE_BEFORE : undefined
}

/** Tells whether the step that made a call says that a person decides it. */
function wantsYes({ window }: Claim, { call_id }: ToolCallRow): boolean {
  const step = window.findLast(({ content }) => content.role === 'assistant')?.content
  return step?.role === 'assistant' && step.calls.some(({ id, ask }) => id === call_id && ask === true)
}

export interface AskedApproval {
  approval: ApprovalRow
  row: ToolCallRow
  message: ChatMessage | undefined
}

/** Writes down that a call waits for a person. Call `showAsked` after the commit. */
export async function askApproval(
  deps: RuntimeDeps,
  tx: Tx,
  claim: Claim,
  { row, reason }: { row: ToolCallRow; reason: string },
): Promise<AskedApproval> {
  const now = deps.clock.now()
  const conversation = placeOfPeople(claim) ?? undefined
  const approval = await createApproval(tx, {
    id: deps.newId('apr'),
    call_id: row.id,
    thread_id: claim.thread,
    cycle_id: claim.cycle,
    agent: claim.agent.name,
    tool: row.tool,
    arguments: row.arguments,
    arguments_hash: hashArguments(row.arguments),
    reason,
    conversation_id: conversation ?? null,
    status: 'open',
    created_at: now,
    expires_at: now + APPROVAL_MS,
  })
  const outcome = toWaiting(approval.id)
  await waitCall(tx, row.id, approval.id, outcome)
  const message = await tellCall(deps, tx, claim, {
    row,
    outcome: { ...outcome, text: `${outcome.text}: ${reason}` },
    status: 'waiting',
    data: { approval: approval.id },
    ...(conversation === undefined ? {} : { conversation }),
  })
  return { approval, row, message }
}

/** Returns where people are asked: the conversation of the cycle, else its task's, else the agent's first. */
export function placeOfPeople({ target, agent }: Claim): string | null {
  return target ?? agent.task?.conversation ?? agent.conversations[0] ?? null
}

/** Shows everyone an approval whose transaction is committed. */
export function showAsked(deps: RuntimeDeps, claim: Claim, { approval, row, message }: AskedApproval): void {
  claim.resting = 'waiting'
  showCall(deps, { target: approval.conversation_id, cycle: claim.cycle }, row, 'waiting', approval.reason)
  publish(deps, [message])
  deps.signals.emit('approval', toApproval(approval))
}
