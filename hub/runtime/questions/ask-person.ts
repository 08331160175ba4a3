import type { Approval, ChatMessage } from '../../../schemas/chat.ts'
import type { JsonObject } from '../../core/forwarding.ts'
import { QUESTION_MS } from '../../core/server-question.ts'
import { createApproval, decideOpen, toApproval } from '../../store/approvals.ts'
import { waitCall } from '../../store/ledger.ts'
import type { ApprovalRow, ToolCallRow } from '../../store/tables.ts'
import type { Tx } from '../../store/writer.ts'
import { announceDecision, tellAbout } from '../answer-approval.ts'
import { showCall, toTelling, toWaiting } from '../calls.ts'
import type { RuntimeDeps } from '../deps.ts'
import { type Question, toAnswer, toQuestion } from './question.ts'

export type AskDeps = Pick<RuntimeDeps, 'store' | 'clock' | 'newId' | 'log' | 'signals'>

/** The principal for whom a server asks: the call that an agent made. */
export interface Party {
  agent: string
  thread: string
  cycle: string
  conversation: string | null
  row: ToolCallRow
  /** Tells whether a cycle waits for the call, as it does until a person is asked. */
  isAwaited(): boolean
  /** Throws if another process has the call by now. */
  guard(tx: Tx): Promise<void>
  /** Lets the cycle go on: the call waits for this question instead, and its outcome comes to the inbox. */
  detach(question: ApprovalRow): void
  /** Pauses the call's deadline while a person is waited for, until the returned function is called. */
  rest(): () => void
}

/**
 * Answers an `elicitation/create`: a person decides on an approval, whose note holds what the server wants to
 * know. The cycle does not wait for it. Throws if the question itself is wrong, and the signal's reason; no
 * question stays open then.
 */
export async function askPerson(
  deps: AskDeps,
  party: Party,
  params: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  const question = toQuestion(params)
  signal.throwIfAborted()
  const approval = toRow(deps, party, question)
  const decided = Promise.withResolvers<Approval>()
  const off = deps.signals.on('approval', one => {
    if (one.id === approval.id && one.status !== 'open') decided.resolve(one)
  })
  const onEnded = () => void close(deps, approval).catch(decided.reject)
  let goOn: (() => void) | undefined
  try {
    await open(deps, party, approval)
    goOn = party.rest()
    if (signal.aborted) onEnded()
    else signal.addEventListener('abort', onEnded, { once: true })
    const { status, decidedBy, note } = await decided.promise
    signal.throwIfAborted()
    if (status === 'approved') return toAnswer(question, note)
    return status === 'denied' && decidedBy !== BY_HUB ? { action: 'decline' } : CANCEL
  } finally {
    off()
    signal.removeEventListener('abort', onEnded)
    goOn?.()
    showCall(deps, { target: party.conversation, cycle: party.cycle }, party.row, 'started')
  }
}

const CANCEL = { action: 'cancel' }
const BY_HUB = 'hub'

function toRow(deps: AskDeps, party: Party, question: Question) {
  const now = deps.clock.now()
  const id = deps.newId('apr')
  return {
    id,
    // A call waits for its first question, which has the call's id. A further question has its own id.
    call_id: party.isAwaited() ? party.row.id : id,
    thread_id: party.thread,
    cycle_id: party.cycle,
    agent: party.agent,
    tool: party.row.tool,
    arguments: JSON.stringify(question.shown),
    arguments_hash: '',
    reason: question.reason,
    conversation_id: party.conversation,
    status: 'open' as const,
    created_at: now,
    expires_at: now + QUESTION_MS,
    question_json: question.json,
  }
}

/** Writes the question down and shows it. */
async function open(deps: AskDeps, party: Party, asked: ReturnType<typeof toRow>): Promise<void> {
  const { row } = party
  const { approval, message } = await deps.store.write(async tx => {
    await party.guard(tx)
    const approval = await createApproval(tx, asked)
    const waiting = toWaiting(approval.id)
    if (isOwn(approval)) await waitCall(tx, row.id, approval.id, waiting)
    const outcome = { ...waiting, text: `${waiting.text}: ${approval.reason}` }
    const told = toTelling({ row, outcome, status: 'waiting' }, { approval: approval.id })
    return { approval, message: await tellAbout(deps, tx, approval, told) }
  })
  showCall(deps, { target: party.conversation, cycle: party.cycle }, row, 'waiting', approval.reason)
  tell(deps, message)
  deps.signals.emit('approval', toApproval(approval))
  if (isOwn(approval)) party.detach(approval)
}

/** Tells whether a call waits for the question; the outcome of that call then answers it. */
export function isOwn({ id, call_id }: Pick<ApprovalRow, 'id' | 'call_id'>): boolean {
  return call_id !== id
}

/** Closes a question that nobody waits for any more; a decision that somebody made stays. */
async function close(deps: AskDeps, { id }: { id: string }): Promise<void> {
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

const OVER = 'The server asks no longer: its call is over, or waited as long as it would.'

/** Returns the notice that a question was closed without an answer. */
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
