import type { Approval, ChatMessage } from '../../../schemas/chat.ts'
import type { JsonObject } from '../../core/forwarding.ts'
import { createApproval, decideOpen, toApproval } from '../../store/approvals.ts'
import type { ApprovalRow, ToolCallRow } from '../../store/tables.ts'
import type { Tx } from '../../store/writer.ts'
import { announceDecision, tellAbout } from '../answer-approval.ts'
import { showCall, toTelling, toWaiting } from '../calls.ts'
import type { RuntimeDeps } from '../deps.ts'
import { type Question, toAnswer, toQuestion } from './question.ts'

/** How long a person may take to answer a question, for which the agent waits. */
export const QUESTION_MS = 3_600_000

export type AskDeps = Pick<RuntimeDeps, 'store' | 'clock' | 'newId' | 'log' | 'signals'>

/** For whom a server asks: the call that an agent made. */
export interface Party {
  agent: string
  thread: string
  cycle: string
  conversation: string | null
  row: ToolCallRow
  /** Aborts when a person stops the cycle: a question is then cancelled, and the call ends by itself. */
  stop: AbortSignal | undefined
  /** Throws where the call is another process's by now. */
  guard(tx: Tx): Promise<void>
  /** A person is waited for, until the returned function is called. */
  rest(): () => Promise<void>
}

/**
 * Answers an `elicitation/create`: a person decides on an approval, whose note holds what the server wants to know.
 * Throws where the question itself is wrong, and the signal's reason; nothing stays open then.
 */
export async function askPerson(
  deps: AskDeps,
  party: Party,
  params: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  const question = toQuestion(params)
  signal.throwIfAborted()
  if (party.stop?.aborted) return CANCEL
  const approval = toRow(deps, party, question)
  const decided = Promise.withResolvers<Approval>()
  const off = deps.signals.on('approval', one => {
    if (one.id === approval.id && one.status !== 'open') decided.resolve(one)
  })
  const ended = AbortSignal.any([signal, ...(party.stop ? [party.stop] : [])])
  const onEnded = () => void close(deps, approval).catch(decided.reject)
  const goOn = party.rest()
  try {
    await open(deps, party, approval)
    if (ended.aborted) onEnded()
    else ended.addEventListener('abort', onEnded, { once: true })
    const { status, decidedBy, note } = await decided.promise
    signal.throwIfAborted()
    if (status === 'approved') return toAnswer(question, note)
    return status === 'denied' && decidedBy !== BY_HUB ? { action: 'decline' } : CANCEL
  } finally {
    off()
    ended.removeEventListener('abort', onEnded)
    await goOn()
    showCall(deps, { target: party.conversation, cycle: party.cycle }, party.row, 'started')
  }
}

const CANCEL = { action: 'cancel' }
const BY_HUB = 'hub'

function toRow(deps: AskDeps, party: Party, question: Question): ApprovalRow {
  const now = deps.clock.now()
  const id = deps.newId('apr')
  return {
    id,
    call_id: id,
    thread_id: party.thread,
    cycle_id: party.cycle,
    agent: party.agent,
    tool: party.row.tool,
    arguments: JSON.stringify(question.shown),
    arguments_hash: '',
    reason: question.reason,
    conversation_id: party.conversation,
    status: 'open',
    created_at: now,
    expires_at: now + QUESTION_MS,
    decided_at: null,
    decided_by: null,
    decided_where: null,
    note: null,
    answered_at: null,
    question_json: question.json,
  }
}

/** Writes the question down and shows it. */
async function open(deps: AskDeps, party: Party, approval: ApprovalRow): Promise<void> {
  const { row } = party
  const message = await deps.store.write(async tx => {
    await party.guard(tx)
    await createApproval(tx, approval)
    const outcome = { text: `${toWaiting(approval.id).text}: ${approval.reason}`, isError: false }
    const told = toTelling({ row, outcome, status: 'waiting' }, { approval: approval.id })
    return tellAbout(deps, tx, approval, told)
  })
  showCall(deps, { target: party.conversation, cycle: party.cycle }, row, 'waiting', approval.reason)
  tell(deps, message)
  deps.signals.emit('approval', toApproval(approval))
}

/** Nobody waits for the answer any more; one that somebody gave stays. */
async function close(deps: AskDeps, { id }: ApprovalRow): Promise<void> {
  const now = deps.clock.now()
  const end = { status: 'expired', at: now, by: BY_HUB, where: null, note: OVER } as const
  const done = await deps.store.write(async tx => {
    const row = await decideOpen(tx, id, end)
    return row && { row, message: await tellAbout(deps, tx, row, toClosed(row, OVER)) }
  })
  if (!done) return
  tell(deps, done.message)
  announceDecision(deps, done.row)
}

const OVER = 'The server asks no longer: its call is over, was stopped, or waited as long as it would.'

/** What a conversation is told of a question that nobody answers any more. */
export function toClosed({ id, tool }: Pick<ApprovalRow, 'id' | 'tool'>, why: string) {
  return {
    kind: 'notice' as const,
    author: BY_HUB,
    text: `The question of ${tool} is closed. ${why}`,
    data: { approval: id },
  }
}

function tell(deps: AskDeps, message: ChatMessage | undefined): void {
  if (message) deps.signals.emit('message', message)
}
