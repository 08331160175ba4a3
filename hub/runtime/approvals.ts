import type { Approval, Decision } from '../../schemas/chat.ts'
import type { Power } from '../../schemas/power.ts'
import { toIso, toLocal } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { truncate } from '../core/text.ts'
import { addAllowance } from '../store/allowances.ts'
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
import { authorsOfCycle } from '../store/inbox.ts'
import { allowCall } from '../store/ledger.ts'
import type { ApprovalRow } from '../store/tables.ts'
import { hasEnded } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import { answerApproval, appendAbout, endApproval, placeOf } from './answer-approval.ts'
import { showCall, UNKNOWN } from './calls.ts'
import { checkNote, isOwn, toClosed } from './questions/ask-person.ts'
import { type ApprovalDeps, runApproved } from './run-approved.ts'

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
    for (const { emit } of expired) emit()
  }
  return {
    expireDue,
    async decide(decision) {
      const settled = await deps.store.write(tx => settle(deps, tx, decision))
      if (!settled) {
        await expireDue()
        throw await explain(deps, decision.id)
      }
      settled.emit()
      const { status, question_json } = settled.approval
      if (status === 'approved' && question_json === null && begun) run(settled.approval.id)
      return toApproval(settled.approval)
    },
    async begin() {
      begun = true
      // These calls had asked a person something, and were cut when the last process ended.
      for (const approval of await cutQuestions(deps.store.db)) {
        const call = await callOfApproval(deps.store.db, approval)
        await endApproval(deps, { approval, call, status: 'unknown', outcome: UNKNOWN })
      }
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

/** A decision that is written down; `emit` tells everyone, after the commit. */
interface Settled {
  approval: ApprovalRow
  emit(): void
}

/** Writes a decision down; undefined if the approval was decided before, or its time is over. */
async function settle(deps: ApprovalDeps, tx: Tx, decision: Decision): Promise<Settled | undefined> {
  const { id, by, where, note = null } = decision
  const status = decision.decision === 'approve' ? 'approved' : 'denied'
  const approval = await decideOpen(tx, id, { status, at: deps.clock.now(), by, where, note })
  if (!approval) return undefined
  await checkAsked(tx, approval, decision)
  if (approval.question_json !== null) return answerQuestion(deps, tx, approval, approval.question_json)
  if (status === 'denied') return refuse(deps, tx, approval, `Denied by ${by}, so it did not run.`)
  await checkRunnable(deps, tx, approval)
  await allowCall(tx, approval.call_id)
  const allowed = await allowMore(deps, tx, approval, decision)
  const call = truncate(`${approval.tool} ${approval.arguments}`, LONGEST_CALL)
  return tell(deps, tx, approval, {
    kind: 'notice',
    author: by,
    text: `${by} approved ${call}: it runs now.${allowed?.words ?? ''}${toNote(note)}`,
    data: { approval: id, ...(allowed && { allowedUntil: allowed.until }) },
  })
}

/** Throws, which undoes the decision, where a person answers what others asked for, or for more than this call. */
async function checkAsked(
  tx: Tx,
  { id, cycle_id }: ApprovalRow,
  { ofPerson, always }: Decision,
): Promise<void> {
  if (ofPerson === undefined) return
  const authors = await authorsOfCycle(tx, cycle_id)
  if (authors.length === 0 || authors.some(author => author !== ofPerson))
    throw new HubError('forbidden', `${ofPerson} did not ask for ${id}; the owner decides it.`)
  if (always !== undefined)
    throw new HubError('forbidden', 'Only the owner allows further calls; answer this one alone.')
}

/** Lets further calls of the tool run where the person said so. Returns until when, also in words. */
async function allowMore(
  { clock, newId, zone }: Pick<ApprovalDeps, 'clock' | 'newId' | 'zone'>,
  tx: Tx,
  { agent, tool, power, reason }: ApprovalRow,
  { always, by }: Decision,
): Promise<{ until: number; words: string } | undefined> {
  if (always === undefined) return undefined
  const now = clock.now()
  const until = now + always
  const id = newId('alw')
  await addAllowance(tx, { id, agent, tool, power, reason, until, created_by: by, created_at: now })
  const end = `${toLocal(until, zone.timezone)} (${zone.timezone})`
  const words = ` Whenever ${WORK[power]}, further calls of ${tool} run without asking until ${end}. Settings > Rules of the page takes that back.`
  return { until, words }
}

const WORK: Record<Power, string> = {
  person: 'a person asks for it',
  routine: "the house's own routine wants it",
  guest: 'a guest asks for it',
  foreign: 'a text from outside leads to it',
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
  if (status === 'expired') return tell(deps, tx, approval, toClosed(approval, 'Nobody answered in time.'))
  const by = approval.decided_by ?? ''
  return tell(deps, tx, approval, {
    kind: 'notice',
    author: by,
    text: `${by} said ${status === 'approved' ? 'yes' : 'no'} to the question of ${tool}.${toNote(note)}`,
    data: { approval: id },
  })
}

/** Tells people of a decision after which a call runs, or the call that asked goes on. */
async function tell(
  deps: ApprovalDeps,
  tx: Tx,
  approval: ApprovalRow,
  notice: Parameters<typeof appendAbout>[3],
): Promise<Settled> {
  const message = await appendAbout(deps, tx, approval, notice)
  const emit = () => {
    deps.signals.emit('approval', toApproval(approval))
    if (message) deps.signals.emit('message', message)
    if (approval.question_json !== null) return
    showCall(deps.signals, placeOf(approval), { id: approval.call_id, tool: approval.tool }, 'planned')
  }
  return { approval, emit }
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
  const emitAnswer = await answerApproval(deps, tx, { approval, call, status, outcome })
  const emit = () => {
    deps.signals.emit('approval', toApproval(approval))
    emitAnswer()
  }
  return { approval, emit }
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
