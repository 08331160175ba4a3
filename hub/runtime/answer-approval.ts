import type { ChatMessage } from '../../schemas/chat.ts'
import type { InboxPayload } from '../../schemas/inbox.ts'
import type { ToolOutcome } from '../core/tool-box.ts'
import { markAnswered, toApproval } from '../store/approvals.ts'
import { appendMessage } from '../store/conversations.ts'
import { postItem } from '../store/inbox.ts'
import { finishCall } from '../store/ledger.ts'
import type { ApprovalRow, ToolCallRow } from '../store/tables.ts'
import { hasEnded } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import { showCall, toTelling } from './calls.ts'
import type { RuntimeDeps, SampleFor } from './deps.ts'

export type ApprovalDeps = Pick<
  RuntimeDeps,
  'store' | 'clock' | 'newId' | 'log' | 'signals' | 'toolBox' | 'agent' | 'owner'
> & { sampleFor: SampleFor }

type Answer = Extract<InboxPayload, { kind: 'approval' }>

/** An approval whose call ended, or will never run. */
export interface Answered {
  approval: ApprovalRow
  call: ToolCallRow
  status: 'denied' | 'expired' | 'ok' | 'error' | 'unknown'
  outcome: ToolOutcome
}

/**
 * Ends the call, tells the conversation, and posts decision and outcome to the thread. Call `announceAnswer`
 * after the commit.
 */
export async function answerApproval(
  deps: Pick<ApprovalDeps, 'newId' | 'clock'>,
  tx: Tx,
  answered: Answered,
): Promise<ChatMessage | undefined> {
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
      conversation: approval.conversation_id ?? undefined,
      at: now,
    })
  }
  return tellAbout(deps, tx, approval, toTelling({ row: call, outcome, status }, { approval: approval.id }))
}

/** Shows the outcome of an approval's call, and wakes the thread. */
export function announceAnswer(
  deps: Pick<ApprovalDeps, 'signals'>,
  { approval, call, status, outcome }: Answered,
  message: ChatMessage | undefined,
): void {
  showCall(deps, placeOf(approval), call, status, outcome.text)
  if (message) deps.signals.emit('message', message)
  deps.signals.emit('posted', { thread: approval.thread_id })
}

/** Tells everyone who decided what. */
export function announceDecision(deps: Pick<ApprovalDeps, 'signals'>, approval: ApprovalRow): void {
  deps.signals.emit('approval', toApproval(approval))
}

/** Returns the conversation and the cycle in which people see an approval and its call. */
export function placeOf({ conversation_id, cycle_id }: ApprovalRow) {
  return { target: conversation_id, cycle: cycle_id }
}

/** Appends a message about an approval; undefined if the approval has no conversation. */
export async function tellAbout(
  deps: Pick<ApprovalDeps, 'newId' | 'clock'>,
  tx: Tx,
  approval: ApprovalRow,
  message: Pick<ChatMessage, 'kind' | 'author' | 'text'> & { data: Record<string, unknown> },
): Promise<ChatMessage | undefined> {
  const conversation = approval.conversation_id
  if (conversation === null) return undefined
  return appendMessage(tx, { id: deps.newId('msg'), conversation, at: deps.clock.now(), ...message })
}

function toAnswer({ approval, call, status, outcome }: Answered): Answer {
  const { id, tool, decided_by, note } = approval
  const ran = status === 'denied' || status === 'expired' ? undefined : status
  const result = { status: ran ?? 'unknown', text: outcome.text }
  const { arguments: args } = call
  // The agent does not get what a person told the server.
  if (approval.question_json !== null) {
    const by = decided_by === null ? {} : { by: decided_by }
    const asked = approval.status === 'open' ? 'expired' : approval.status
    return {
      kind: 'approval',
      approval: id,
      tool,
      arguments: args,
      status: asked,
      question: true,
      ...by,
      result,
    }
  }
  return {
    kind: 'approval',
    approval: id,
    tool,
    arguments: approval.arguments,
    status: ran === undefined ? (status as 'denied' | 'expired') : 'approved',
    ...(decided_by === null ? {} : { by: decided_by }),
    ...(note === null ? {} : { note }),
    ...(ran === undefined ? {} : { result: { status: ran, text: outcome.text } }),
  }
}
