import type { ChatMessage } from '../../schemas/chat.ts'
import type { InboxPayload } from '../../schemas/inbox.ts'
import type { ToolOutcome } from '../core/tool-box.ts'
import { markAnswered } from '../store/approvals.ts'
import { appendMessage } from '../store/conversations.ts'
import { postItem } from '../store/inbox.ts'
import { finishCall } from '../store/ledger.ts'
import type { ApprovalRow, ToolCallRow } from '../store/tables.ts'
import { hasEnded } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import { showCall, toCallMessage } from './calls.ts'
import type { RuntimeDeps } from './deps.ts'

type Deps = Pick<RuntimeDeps, 'store' | 'clock' | 'newId' | 'signals'>

/** An approval whose call ended, or will never run. */
export interface Answered {
  approval: ApprovalRow
  call: ToolCallRow
  status: 'denied' | 'expired' | 'ok' | 'error' | 'unknown'
  outcome: ToolOutcome
}

/** Ends an approval's call in a commit of its own, and wakes the thread. */
export async function endApproval(deps: Deps, answered: Answered): Promise<void> {
  const emit = await deps.store.write(tx => answerApproval(deps, tx, answered))
  emit()
}

/**
 * Ends the call, tells the conversation, and posts decision and outcome to the thread. Returns what shows the
 * outcome and wakes the thread; call it after the commit.
 */
export async function answerApproval(deps: Deps, tx: Tx, answered: Answered): Promise<() => void> {
  const { approval, call, status, outcome } = answered
  const now = deps.clock.now()
  await finishCall(tx, call.id, { status, result: outcome, now })
  await markAnswered(tx, approval.id, now)
  // A thread that has ended gets no item: it would be woken for nothing.
  if (!(await hasEnded(tx, approval.thread_id))) {
    await postItem(tx, {
      thread: approval.thread_id,
      source: 'approval',
      externalId: approval.id,
      payload: toAnswer(answered),
      power: approval.power,
      conversation: approval.conversation_id ?? undefined,
      at: now,
    })
  }
  const told = toCallMessage({ row: call, outcome, status }, { approval: approval.id })
  const message = await appendAbout(deps, tx, approval, told)
  return () => {
    showCall(deps.signals, placeOf(approval), call, status, outcome.text)
    if (message) deps.signals.emit('message', message)
    deps.signals.emit('posted', { thread: approval.thread_id })
  }
}

/** Returns the conversation and the cycle in which people see an approval and its call. */
export function placeOf({ conversation_id, cycle_id }: ApprovalRow) {
  return { conversation: conversation_id, cycle: cycle_id }
}

/** Appends a message about an approval; undefined if the approval has no conversation. */
export async function appendAbout(
  deps: Pick<Deps, 'newId' | 'clock'>,
  tx: Tx,
  { conversation_id: conversation }: ApprovalRow,
  message: Pick<ChatMessage, 'kind' | 'author' | 'text'> & { data: Record<string, unknown> },
): Promise<ChatMessage | undefined> {
  if (conversation === null) return undefined
  return appendMessage(tx, { id: deps.newId('msg'), conversation, at: deps.clock.now(), ...message })
}

function toAnswer({
  approval,
  call,
  status,
  outcome,
}: Answered): Extract<InboxPayload, { kind: 'approval' }> {
  const { id, tool, decided_by, note } = approval
  const ran = status === 'denied' || status === 'expired' ? undefined : status
  const by = decided_by === null ? {} : { by: decided_by }
  // The agent does not get what a person told the server.
  if (approval.question_json !== null) {
    return {
      kind: 'approval',
      approval: id,
      tool,
      arguments: call.arguments,
      status: approval.status === 'open' ? 'expired' : approval.status,
      question: true,
      ...by,
      result: { status: ran ?? 'unknown', text: outcome.text },
    }
  }
  return {
    kind: 'approval',
    approval: id,
    tool,
    arguments: approval.arguments,
    status: ran === undefined ? (status as 'denied' | 'expired') : 'approved',
    ...by,
    ...(note === null ? {} : { note }),
    ...(ran === undefined ? {} : { result: { status: ran, text: outcome.text } }),
  }
}
