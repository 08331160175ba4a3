import type { Kysely } from 'kysely'
import type { HistoryContent } from '../../schemas/inbox.ts'
import { describeError } from '../core/errors.ts'
import type { ModelError } from '../core/model.ts'
import { GO_ON } from '../core/show-item.ts'
import { isBlank, toSentence } from '../core/text.ts'
import { addDeadLetter, type NewDeadLetter } from '../store/dead-letters.ts'
import { giveBackItems, type InboxItem, postItem } from '../store/inbox.ts'
import { closeTaskHistory } from '../store/sessions.ts'
import type { Tables } from '../store/tables.ts'
import {
  dropUnanswered,
  giveBackMessages,
  type UnansweredMessage,
  unansweredOf,
} from '../store/unanswered.ts'
import type { Tx } from '../store/writer.ts'
import type { ActiveCycle, CycleWrite } from './active-cycle.ts'
import { cutCalls } from './calls.ts'
import { checkText, toAnswerData } from './check-answer.ts'
import { userMessages } from './reply.ts'
import type { Completion } from './tasks.ts'
import { hasOpenCalls } from './window.ts'

/** Returns the messages of people that the cycle took and nobody answered. */
export async function unansweredIn(db: Kysely<Tables>, cycle: ActiveCycle): Promise<UnansweredMessage[]> {
  return (await unansweredOf(db, cycle.thread)).filter(message => message.cycle === cycle.id)
}

/** Returns where a failure is told: the conversation of the reply, or a default, and every one that waits. */
export async function conversationsToNotify(tx: Tx, cycle: ActiveCycle): Promise<Set<string>> {
  const place = cycle.placeOfPeople()
  const waiting = await unansweredIn(tx, cycle)
  return new Set([...(place === null ? [] : [place]), ...waiting.map(each => each.conversation)])
}

/**
 * Ends a cycle within the transaction that stores the result of an ending tool: the text beside the call is
 * final, and conversations that got nothing get its notice. A summary is for the cycle's own conversation:
 * messages of others go back to the inbox.
 */
export async function endByTool(
  write: CycleWrite,
  cycle: ActiveCycle,
  { text, notice, completed }: { text: string; notice: string; completed: Completion | undefined },
): Promise<void> {
  const { tx } = write
  const data = toAnswerData(checkText(cycle, text))
  if (!isBlank(text)) await cycle.message(write, { kind: 'agent', text, data })
  // A summary names no time at which the agent goes on with messages of others, so they go back to the inbox.
  if (completed && (await giveBackMessages(tx, cycle.id, cycle.target))) goOnAfter(write, cycle)
  const left = new Set((await unansweredIn(tx, cycle)).map(({ conversation }) => conversation))
  for (const conversation of left) await cycle.message(write, { kind: 'notice', text: notice, conversation })
  const task = completed ? { kind: 'completed' as const, ...completed } : { kind: 'text' as const, text }
  await cycle.end(write, { status: 'done', task })
}

function goOnAfter({ afterCommit }: CycleWrite, cycle: ActiveCycle): void {
  afterCommit(() => {
    cycle.hasMore = true
  })
}

export interface Failure {
  kind: 'error' | 'notice'
  text: string
  data?: Record<string, unknown>
  /** Content of the dead letter, if the cycle failed for good. */
  letter?: Pick<NewDeadLetter, 'id' | 'reason' | 'error' | 'retryable'>
  /** The cycle's status at its end; default failed. */
  status?: 'failed' | 'stopped'
  /** Text that people were shown of a reply that was cut; they keep it. */
  partial?: string
  /** Text for the agent itself at the end of its history. */
  note?: string
  /** Whether messages of other conversations that have no answer go back to the inbox. */
  givesBack?: boolean
}

/**
 * Ends a cycle that failed or that a limit stopped: every call gets its result, everyone who waits is told,
 * and the thread sleeps; its history stays.
 */
export async function fail(cycle: ActiveCycle, failure: Failure): Promise<void> {
  const { kind, text, data, letter, partial = '' } = failure
  const status = letter ? 'dead' : (failure.status ?? 'failed')
  await cycle.commit(async write => {
    const { tx, now } = write
    const results = hasOpenCalls(cycle.window) ? await cutCalls(write, cycle) : []
    await cycle.append(write, [...results, ...toNote(failure)])
    if (await giveBack(tx, cycle, failure)) goOnAfter(write, cycle)
    const conversations = await conversationsToNotify(tx, cycle)
    if (status === 'stopped') await dropUnanswered(tx, { cycle: cycle.id })
    if (partial !== '') await cycle.message(write, { kind: 'agent', text: `${partial}\n\n(stopped here)` })
    const tells = letter ? { tells: 'failures' as const } : {}
    for (const conversation of conversations)
      await cycle.message(write, { kind, text, conversation, data, ...tells })
    const { thread, id, agent } = cycle
    if (letter) await addDeadLetter(tx, { ...letter, thread, cycle: id, agent: agent.name, at: now })
    const task = { kind: status === 'stopped' ? ('stopped' as const) : ('failed' as const), reason: text }
    await cycle.end(write, { status, note: text, task })
  })
}

/**
 * Returns to the inbox what the cycle did not come to: unanswered messages of other conversations, and items
 * that no step saw. A stop covers everything that its own conversation said before. A limit before the first
 * step keeps the unseen items: they would reach it again. Tells whether anything went back.
 */
async function giveBack(
  tx: Tx,
  cycle: ActiveCycle,
  { givesBack, letter, status }: Failure,
): Promise<boolean> {
  if (!givesBack || letter) return false
  const { id, steps, target, unseen } = cycle
  const isOwn = ({ payload }: InboxItem) => payload.kind === 'message' && payload.conversation === target
  const rest = status === 'stopped' ? unseen.filter(item => !isOwn(item)) : steps > 0 ? unseen : []
  await giveBackItems(tx, id, rest)
  return (await giveBackMessages(tx, id, target)) || rest.length > 0
}

function toNote({ note, partial = '' }: Failure): HistoryContent[] {
  if (note === undefined) return []
  return [{ role: 'assistant', text: partial === '' ? note : `${partial}\n\n${note}`, calls: [] }]
}

/**
 * Ends a cycle for a person who waits. Its work goes on afterwards with the power that it had: guests' messages
 * go back to the inbox, and anything else goes on by a note.
 */
export async function yieldToPerson(cycle: ActiveCycle): Promise<void> {
  const { id, thread, power, hasReadForeign, items, target } = cycle
  await cycle.commit(async write => {
    const { tx, now } = write
    if (userMessages(items).length > 0) await giveBackItems(tx, id, items)
    else {
      const payload = { kind: 'notice' as const, text: GO_ON }
      const conversation = target ?? undefined
      await postItem(tx, {
        thread,
        source: 'resume',
        externalId: id,
        payload,
        power,
        hasReadForeign,
        conversation,
        at: now,
      })
    }
    const stopped = '[I stop here: a person wrote. What is above waits for its own turn.]'
    await cycle.append(write, [{ role: 'assistant', text: stopped, calls: [] }])
    goOnAfter(write, cycle)
    await cycle.end(write, { status: 'done', note: 'A person came first.' })
  })
}

/** Stops the cycle of a task that was ended meanwhile: every call gets its result, and nobody is told. */
export async function stopEndedTask(cycle: ActiveCycle): Promise<void> {
  await cycle.commit(async write => {
    if (hasOpenCalls(cycle.window)) await cycle.append(write, await cutCalls(write, cycle))
    await cycle.end(write, { status: 'stopped', note: 'The task was ended.' })
    await closeTaskHistory(write.tx, cycle.thread, write.now)
  })
}

/** The error with which a cycle failed for good. `retryable`: a later try may succeed. */
type FinalError = Pick<NewDeadLetter, 'error' | 'retryable'>

/**
 * Dead-letters the cycle: its calls get their results, everyone who waits is told once, its batch leaves the
 * window, and the thread is free for what comes next.
 */
export async function deadLetter(cycle: ActiveCycle, { error, retryable }: FinalError): Promise<void> {
  const id = cycle.newId('dl')
  const reason = toSentence(error.message)
  const text = `${reason} This failed for good and lies in the dead letters; retry it with: superbloom dead-letters retry ${id} (or discard it).`
  const attempts = cycle.failures > 0 ? { attempt: cycle.failures, of: cycle.failures } : {}
  cycle.log.error('cycle_dead', { cycle: cycle.id, thread: cycle.thread, deadLetter: id, why: reason })
  const data = { ...attempts, retryable: false, deadLetter: id }
  await fail(cycle, { kind: 'error', text, data, letter: { id, reason, error, retryable } })
}

/** Returns a provider's error as a dead letter keeps it. */
export function toFinalError(error: ModelError): FinalError {
  const { kind, status, retryable } = error
  const message = describeError(error)
  return { error: { code: kind, ...(status === undefined ? {} : { status }), message }, retryable }
}

/** Returns the error for a cycle that ran alone when the hub crashed, one of `crashes` since its last step. */
export function toCrashed(crashes: number): FinalError {
  const message = `The hub ended ${crashes} times while I worked on this, the last time while nobody else worked, and without one step between`
  return { error: { code: 'crashed', message }, retryable: true }
}

/** The error of a failure that nobody foresaw; the log describes it. */
export const UNEXPECTED: FinalError = {
  error: {
    code: 'internal',
    message: 'Something went wrong inside the hub while I worked on this; its log says what',
  },
  retryable: true,
}
