import type { AgentTool } from '../core/tool-box.ts'
import { allowedUntil } from '../store/allowances.ts'
import { createApproval, readAsked } from '../store/approvals.ts'
import { hashArguments } from '../store/arguments.ts'
import { hadSucceeded, isDoubtful, waitCall } from '../store/ledger.ts'
import type { ToolCallRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import type { ActiveCycle, CycleWrite } from './active-cycle.ts'
import { showCall, toCallMessage, toWaiting } from './calls.ts'
import type { RuntimeDeps } from './deps.ts'

/** Milliseconds that a person may take to answer. */
export const APPROVAL_MS = 24 * 3_600_000

const DOUBT =
  'the outcome of the same call before is unknown: it may have had its effect already, and repeating it may do harm'

const DONE_BEFORE =
  'the same call succeeded before the work that is tried again now failed: to run it again would do it twice'

/** The answer for a call that needs nobody's yes. */
export const RUNS = { kind: 'run', reason: '' } as const

/** Decides whether a call of a server's tool runs, needs a person's yes, or is refused. */
export async function decideCall(
  { policy }: Pick<RuntimeDeps, 'policy'>,
  tx: Tx,
  cycle: ActiveCycle,
  { row, tool }: { row: ToolCallRow; tool: Extract<AgentTool<Tx>, { kind: 'server' }> },
): Promise<Pick<ReturnType<typeof policy>, 'kind' | 'reason'>> {
  const { agent, power, hasReadForeign, thread, id } = cycle
  const verdict = policy({ tool: tool.facts, power, agent, hasReadForeign })
  const { reason } = verdict
  const allowance = { agent: agent.name, tool: row.tool, power, reason, now: cycle.now() }
  const isAllowed = verdict.mayBeAllowed && (await allowedUntil(tx, allowance)) !== undefined
  if (verdict.kind !== 'run' && !isAllowed) return verdict
  if (wantsYes(cycle, row)) return { kind: 'ask', reason: 'the built-in commands ask before every change' }
  if (tool.reads) return RUNS
  const call = { thread, cycle: id, tool: row.tool, hash: hashArguments(row.arguments) }
  if (tool.destructive && (await isDoubtful(tx, call))) return { kind: 'ask', reason: DOUBT }
  return (await hadSucceeded(tx, call)) ? { kind: 'ask', reason: DONE_BEFORE } : RUNS
}

/** Tells whether the step that made a call says that a person decides it. */
function wantsYes({ window }: ActiveCycle, { call_id }: ToolCallRow): boolean {
  const step = window.findLast(({ content }) => content.role === 'assistant')?.content
  return step?.role === 'assistant' && step.calls.some(({ id, ask }) => id === call_id && ask === true)
}

/** Writes down that a call waits for a person, and shows everyone the approval after the commit. */
export async function requestApproval(
  { newId }: Pick<RuntimeDeps, 'newId'>,
  write: CycleWrite,
  cycle: ActiveCycle,
  { row, reason }: { row: ToolCallRow; reason: string },
): Promise<void> {
  const { tx, now, afterCommit } = write
  const conversation = cycle.placeOfPeople()
  const approval = await createApproval(tx, {
    id: newId('apr'),
    call_id: row.id,
    thread_id: cycle.thread,
    cycle_id: cycle.id,
    agent: cycle.agent.name,
    tool: row.tool,
    arguments: row.arguments,
    arguments_hash: hashArguments(row.arguments),
    reason,
    conversation_id: conversation,
    power: cycle.power,
    status: 'open',
    created_at: now,
    expires_at: now + APPROVAL_MS,
  })
  const outcome = toWaiting(approval.id)
  await waitCall(tx, row.id, approval.id, outcome)
  afterCommit(() => {
    cycle.resting = 'waiting'
    showCall(cycle.signals, { conversation, cycle: cycle.id }, row, 'waiting', reason)
  })
  const shown = {
    row,
    outcome: { ...outcome, text: `${outcome.text}: ${reason}` },
    status: 'waiting' as const,
  }
  const told = toCallMessage(shown, { approval: approval.id })
  await cycle.message(write, { ...told, conversation })
  const asked = await readAsked(tx, approval)
  afterCommit(() => cycle.signals.emit('approval', asked))
}
