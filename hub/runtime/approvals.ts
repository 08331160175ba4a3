import type { Approval, ChatMessage, Decision } from '../../schemas/chat.ts'
import { toIso } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { truncate } from '../core/text.ts'
import {
  callOfApproval,
  cutQuestions,
  type Decided,
  decideOpen,
  findApproval,
  markAnswered,
  overdueApprovals,
  toApproval,
  unansweredApprovals,
} from '../store/approvals.ts'
import { allowCall } from '../store/ledger.ts'
import type { ApprovalRow } from '../store/tables.ts'
import { hasEnded } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import {
  type Answered,
  type ApprovalDeps,
  announceAnswer,
  announceDecision,
  answerApproval,
  placeOf,
  tellAbout,
} from './answer-approval.ts'
import { showCall, UNKNOWN } from './calls.ts'
import { isOwn, toClosed } from './questions/ask-person.ts'
import { checkNote } from './questions/question.ts'
import { runApproved } from './run-approved.ts'

/** The calls that need a person's yes: each is decided once, and runs once if approved, outside any cycle. */
export interface Approvals extends AsyncDisposable {
  /** Decides; the first answer wins. Throws `not_found`, `conflict` with who decided, and `retired`. */
  decide(decision: Decision): Promise<Approval>
  /** Expires the approvals that nobody answered in time. */
  expireDue(): Promise<void>
  /** Runs approved calls, earlier ones too. Call it once the startup barrier has opened. */
  begin(): Promise<void>
}

/** Milliseconds that calls may take to end when the hub does; a cut call goes on at the next start. */
const STOP_MS = 6_000

export function createApprovals(deps: ApprovalDeps): Approvals {
  const stopping = new AbortController()
  const running = new Map<string, Promise<void>>()
  let begun = false
  const run = (id: string) => {
    if (running.has(id) || stopping.signal.aborted) return
    const done = runApproved(deps, id, stopping.signal)
      .catch(error => {
        if (!stopping.signal.aborted) deps.log.error('approved_call_broke', { approval: id, error })
      })
      .finally(() => running.delete(id))
    running.set(id, done)
  }
  const expireDue = async () => {
    const expired = await deps.store.write(tx => expireOverdue(deps, tx))
    for (const one of expired) announce(deps, one)
  }
  return {
    expireDue,
    async decide(decision) {
      const settled = await deps.store.write(tx => settle(deps, tx, decision))
      if (!settled) {
        await expireDue()
        throw await explain(deps, decision.id)
      }
      announce(deps, settled)
      const { status, question_json } = settled.approval
      if (status === 'approved' && question_json === null && begun) run(settled.approval.id)
      return toApproval(settled.approval)
    },
    async begin() {
      begun = true
      for (const approval of await cutQuestions(deps.store.db)) await endCut(deps, approval)
      for (const id of await unansweredApprovals(deps.store.db)) run(id)
    },
    async [Symbol.asyncDispose]() {
      stopping.abort(new HubError('unavailable', 'The hub is stopping'))
      const stopped = Promise.withResolvers<void>()
      const cancel = deps.clock.after(STOP_MS, () => stopped.resolve())
      await Promise.race([Promise.all(running.values()), stopped.promise])
      cancel()
    },
  }
}

/** Ends a call that had asked a person something and was cut when the last process ended. */
async function endCut(deps: ApprovalDeps, approval: ApprovalRow): Promise<void> {
  const call = await callOfApproval(deps.store.db, approval)
  const answered = { approval, call, status: 'unknown' as const, outcome: UNKNOWN }
  announceAnswer(deps, answered, await deps.store.write(tx => answerApproval(deps, tx, answered)))
}

/** A decision that is written down; `answered` is set if nothing is left to run. */
interface Settled {
  approval: ApprovalRow
  message: ChatMessage | undefined
  answered?: Answered
}

/** Writes a decision down; undefined if the approval was decided before, or its time is over. */
async function settle(deps: ApprovalDeps, tx: Tx, decision: Decision): Promise<Settled | undefined> {
  const { id, by, where, note = null } = decision
  const status = decision.decision === 'approve' ? 'approved' : 'denied'
  const approval = await decideOpen(tx, id, { status, at: deps.clock.now(), by, where, note })
  if (!approval) return undefined
  if (approval.question_json !== null) return answerQuestion(deps, tx, approval, approval.question_json)
  if (status === 'denied') return refuse(deps, tx, approval, `Denied by ${by}, so it did not run.`)
  await checkRunnable(deps, tx, approval)
  await allowCall(tx, approval.call_id)
  const call = truncate(`${approval.tool} ${approval.arguments}`, LONGEST_CALL)
  const message = await tellAbout(deps, tx, approval, {
    kind: 'notice',
    author: by,
    text: `${by} approved ${call}: it runs now.${toNote(note)}`,
    data: { approval: id },
  })
  return { approval, message }
}

const LONGEST_CALL = 300

/**
 * Answers a question; whoever asked gets the answer with the announcement. Throws if the note beside a yes is
 * no answer: the transaction is then undone.
 */
async function answerQuestion(
  deps: ApprovalDeps,
  tx: Tx,
  approval: ApprovalRow,
  question: string,
): Promise<Settled> {
  const { id, tool, status, note } = approval
  if (status === 'approved') checkNote(question, note ?? undefined)
  if (!isOwn(approval)) await markAnswered(tx, id, deps.clock.now())
  if (status === 'expired') {
    const message = await tellAbout(deps, tx, approval, toClosed(approval, 'Nobody answered in time.'))
    return { approval, message }
  }
  const by = approval.decided_by ?? ''
  const message = await tellAbout(deps, tx, approval, {
    kind: 'notice',
    author: by,
    text: `${by} said ${status === 'approved' ? 'yes' : 'no'} to the question of ${tool}.${toNote(note)}`,
    data: { approval: id },
  })
  return { approval, message }
}

/** Throws if the agent is retired or the thread has ended: the transaction is then undone. */
async function checkRunnable(deps: ApprovalDeps, tx: Tx, { id, agent, thread_id }: ApprovalRow) {
  if (!deps.agent(agent)) {
    throw new HubError(
      'retired',
      `The agent ${agent} is retired: its file agents/${agent}.md is gone, or wrong. Put it back to approve ${id}, or deny it.`,
    )
  }
  if (await hasEnded(tx, thread_id)) {
    throw new HubError(
      'conflict',
      `${id} is of the thread ${thread_id}, which is over. It can only be denied.`,
    )
  }
}

async function refuse(deps: ApprovalDeps, tx: Tx, approval: ApprovalRow, text: string): Promise<Settled> {
  const call = await callOfApproval(tx, approval)
  const status = approval.status === 'denied' ? ('denied' as const) : ('expired' as const)
  const outcome = { text: `${text}${toNote(approval.note)}`, isError: true }
  const answered = { approval, call, status, outcome }
  return { approval, answered, message: await answerApproval(deps, tx, answered) }
}

async function expireOverdue(deps: ApprovalDeps, tx: Tx): Promise<Settled[]> {
  const now = deps.clock.now()
  const decided: Decided = { status: 'expired', at: now, by: null, where: null, note: null }
  const expired: Settled[] = []
  for (const { id } of await overdueApprovals(tx, now)) {
    const approval = await decideOpen(tx, id, decided)
    if (!approval) continue
    expired.push(
      await (approval.question_json === null
        ? refuse(deps, tx, approval, 'Nobody answered in time, so it did not run.')
        : answerQuestion(deps, tx, approval, approval.question_json)),
    )
  }
  return expired
}

function announce(deps: ApprovalDeps, { approval, message, answered }: Settled): void {
  announceDecision(deps, approval)
  if (answered) {
    announceAnswer(deps, answered, message)
    return
  }
  if (message) deps.signals.emit('message', message)
  if (approval.question_json !== null) return
  showCall(deps, placeOf(approval), { id: approval.call_id, tool: approval.tool }, 'planned')
}

/** Explains why an approval could not be decided. */
async function explain(deps: ApprovalDeps, id: string): Promise<HubError> {
  const row = await findApproval(deps.store.db, id)
  if (!row) {
    return new HubError('not_found', `There is no approval ${id}; superbloom approvals --all shows them`)
  }
  const when = row.decided_at === null ? '' : ` at ${toIso(row.decided_at)}`
  const by = row.decided_by === null ? '' : ` by ${row.decided_by} over ${row.decided_where}`
  return new HubError('conflict', `${id} was ${row.status}${by}${when} already; it stays so.`)
}

function toNote(note: string | null): string {
  return note === null || note === '' ? '' : ` Note: ${note}`
}
