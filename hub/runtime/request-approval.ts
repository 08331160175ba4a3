import type { InboxPayload } from '../../schemas/inbox.ts'
import { matchesGlobs } from '../core/glob.ts'
import type { AgentTool } from '../core/tool-box.ts'
import { createApproval, toApproval } from '../store/approvals.ts'
import { hadSucceeded, isDoubtful, waitCall } from '../store/ledger.ts'
import type { ToolCallRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import type { ActiveCycle, CycleWrite } from './active-cycle.ts'
import { hashArguments } from './arguments.ts'
import { showCall, toCallMessage, toWaiting } from './calls.ts'
import type { RuntimeDeps } from './deps.ts'

/** Milliseconds that a person may take to answer. */
export const APPROVAL_MS = 24 * 3_600_000

const DOUBT =
  'the outcome of the same call before is unknown: it may have had its effect already, and repeating it may do harm'

const DONE_BEFORE =
  'the same call succeeded before the work that is tried again now failed: to run it again would do it twice'

/** Returns why a call of a server's tool needs a person's yes; undefined if it needs none. */
export async function whyApproval(
  { approve }: Pick<RuntimeDeps, 'approve'>,
  tx: Tx,
  cycle: ActiveCycle,
  { row, tool }: { row: ToolCallRow; tool: Extract<AgentTool<Tx>, { kind: 'server' }> },
): Promise<string | undefined> {
  const { agent, items, thread } = cycle
  if (matchesGlobs(approve(), row.tool)) return 'tools.approve of the config lists it'
  if (matchesGlobs(agent.approve, row.tool)) return `approve in agents/${agent.name}.md lists it`
  if (tool.destroys && !agent.grants.includes(row.tool) && !isOfPeople(items)) {
    return `it is destructive, and not only people's messages led to it (grants in agents/${agent.name}.md does not name it)`
  }
  if (wantsYes(cycle, row)) return 'it was asked to wait for a yes'
  if (tool.reads) return undefined
  const call = { thread, cycle: cycle.id, tool: row.tool, hash: hashArguments(row.arguments) }
  if (tool.destructive && (await isDoubtful(tx, call))) return DOUBT
  return (await hadSucceeded(tx, call)) ? DONE_BEFORE : undefined
}

/**
 * Tells whether people's messages alone led to what a cycle does: it took one, and nothing that a program or
 * an agent wrote. People's decisions and the hub's own notes change nothing.
 */
export function isOfPeople(items: readonly { payload: Pick<InboxPayload, 'kind'> }[]): boolean {
  const kinds = items.map(({ payload }) => LED_BY[payload.kind])
  return kinds.includes('person') && !kinds.includes('other')
}

const LED_BY: Record<InboxPayload['kind'], 'person' | 'other' | 'nobody'> = {
  message: 'person',
  approval: 'nobody',
  reset: 'nobody',
  notice: 'nobody',
  wake: 'other',
  event: 'other',
  agent: 'other',
  task: 'other',
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
  afterCommit(() => cycle.signals.emit('approval', toApproval(approval)))
}
