import type { Kysely } from 'kysely'
import type { ChatMessage } from '../../schemas/chat.ts'
import type { HistoryContent } from '../../schemas/inbox.ts'
import { isBlank } from '../core/text.ts'
import { countStep, endCycle, endCycleWithStep, redirectCycle, type Usage } from '../store/cycles.ts'
import { addDeadLetter, type NewDeadLetter } from '../store/dead-letters.ts'
import { settleEvents } from '../store/events.ts'
import { appendHistory, fencedWrite, releasingWrite } from '../store/history.ts'
import { saveTokenFactors } from '../store/hub-state.ts'
import { giveBackItems, type InboxItem } from '../store/inbox.ts'
import { closeTaskHistory } from '../store/sessions.ts'
import type { Tables } from '../store/tables.ts'
import type { Ended } from '../store/tasks.ts'
import { hasEnded, releaseThread } from '../store/threads.ts'
import {
  dropUnanswered,
  giveBackMessages,
  markAsked,
  type UnansweredMessage,
  unansweredOf,
} from '../store/unanswered.ts'
import type { Tx } from '../store/writer.ts'
import { checkFinalText, checkText, toAnswerData } from './answer.ts'
import { toUnanswered } from './batch.ts'
import { cutCalls, showCall } from './calls.ts'
import { type Claim, LEASE_MS } from './claim.ts'
import { isCrowded, makeRoom } from './compaction.ts'
import type { RuntimeDeps } from './deps.ts'
import { settle, writeUsage } from './limits/metered-model.ts'
import { userMessages } from './reply.ts'
import { eventIds } from './taken-events.ts'
import { announceEnded, type Completion, type CycleEnd, settleTask } from './tasks.ts'
import { publish, type Telling, tell, tellEnd } from './tell.ts'
import { toAnchor } from './tokens.ts'
import { hasOpenCalls } from './window.ts'

type Messages = (ChatMessage | undefined)[]

/** A step without calls. */
export interface FinalStep {
  content: HistoryContent
  /** Text that people get; empty for silence, which the history does not keep. */
  text: string
  /** The reason why there is no text, for people who wait for one. */
  why: Pick<Telling, 'text' | 'data'>
  /** Whether the reply was cut; if it has no text, that is told where nobody waits, too. */
  isCut: boolean
  step: number
  usage: Usage
  /** Tokens that the provider counted up to the step; undefined if its count is not to be believed. */
  counted: number | undefined
  signal: AbortSignal
}

/**
 * Writes the step, the reply and the cycle's end in one commit. If the answer does not fit its schema, or a
 * conversation got no answer, the cycle does not end: the agent is asked for it in one more step.
 */
export async function endWithText(
  deps: RuntimeDeps,
  claim: Claim,
  { content, text, why, isCut, step, usage, counted, signal }: FinalStep,
): Promise<'think' | 'ended'> {
  const isSilent = isBlank(text)
  const said = isSilent ? [] : [content]
  const crowded = isCrowded(deps, claim)
  const now = deps.clock.now()
  const { entries, messages, asked, target, over } = await deps.store.write(async tx => {
    const { repair, ...checked } = await checkFinalText(deps, tx, claim, { text, step })
    const next = repair ? undefined : await findQuestion(tx, claim)
    const asked = repair ?? (next && toUnanswered(next.conversation, next.texts, now))
    const contents = asked ? [...said, asked] : said
    const lastSeq =
      asked || crowded
        ? await fencedWrite(tx, claim, contents.length, now + LEASE_MS, now)
        : await releasingWrite(tx, claim, contents.length, now)
    const written = await appendHistory(tx, claim, lastSeq, step, contents, now)
    if (asked) await countStep(tx, claim.cycle, usage)
    else await endCycleWithStep(tx, claim.cycle, usage, now)
    await writeUsage(tx, claim)
    if (counted !== undefined) await saveTokenFactors(tx, deps.tokens.factors)
    if (!asked) await settleEvents(tx, eventIds(claim.items))
    if (isSilent && !repair && claim.target !== null) await markAsked(tx, claim.cycle, claim.target)
    const isTold = !isSilent && !repair
    const told = isTold
      ? [await tell(deps, tx, claim, { kind: 'agent', text, ...toAnswerData(checked) })]
      : []
    const missed = asked ? [] : await findMissed(tx, claim, { isSilent, isCut })
    for (const conversation of missed)
      told.push(await tell(deps, tx, claim, { kind: 'notice', conversation, ...why }))
    if (next) await turnTo(tx, claim, next.conversation)
    const ended = asked ? undefined : await settleTask(tx, claim, now, { kind: 'text', text, ...checked })
    return { entries: written, messages: told, asked, target: next?.conversation, over: ended }
  })
  settle(deps, claim)
  claim.anchor = toAnchor(counted, (isSilent ? claim.window.at(-1) : entries[0])?.seq ?? 0)
  claim.window.push(...entries)
  claim.steps = step
  claim.unseen = []
  publish(deps, messages)
  claim.turn?.share()
  deps.signals.emit('stepCommitted', { thread: claim.thread })
  if (over) announceEnded(deps, over)
  if (!asked) {
    tellEnd(deps, claim)
    if (crowded) await tidyUp(deps, claim, signal)
    return 'ended'
  }
  claim.target = target ?? claim.target
  return 'think'
}

/** Makes room for the next cycle after the end of this one, and only then releases the thread. */
async function tidyUp(deps: RuntimeDeps, claim: Claim, signal: AbortSignal): Promise<void> {
  try {
    const isOver = claim.agent.task && (await hasEnded(deps.store.db, claim.thread))
    if (!isOver) await makeRoom(deps, claim, 'end', signal)
  } catch (error) {
    deps.log.warn('no_room_made', { thread: claim.thread, error })
  } finally {
    await deps.store.write(tx => releaseThread(tx, claim, deps.clock.now()))
  }
}

interface Question {
  conversation: string
  texts: string[]
}

/** Returns the next conversation, besides that of the present text, with a message not asked about yet. */
async function findQuestion(tx: Tx, claim: Claim): Promise<Question | undefined> {
  const isAlone = userMessages(claim.items).every(({ conversation }) => conversation === claim.target)
  if (isAlone) return undefined
  const open = (await unansweredIn(tx, claim)).filter(
    ({ conversation, wasAsked }) => conversation !== claim.target && !wasAsked,
  )
  const conversation = open[0]?.conversation
  if (conversation === undefined) return undefined
  const own = open.filter(each => each.conversation === conversation)
  return { conversation, texts: own.map(({ text }) => text) }
}

async function unansweredIn(db: Kysely<Tables>, { thread, cycle }: Claim): Promise<UnansweredMessage[]> {
  return (await unansweredOf(db, thread)).filter(message => message.cycle === cycle)
}

/**
 * Returns to the inbox what the cycle did not come to: unanswered messages of other conversations, and items
 * that no step saw. A stop covers everything that its own conversation said before. A limit before the first
 * step keeps the unseen items: they would reach it again. Tells whether anything went back.
 */
async function giveBack(tx: Tx, claim: Claim, { givesBack, letter, status }: Failure): Promise<boolean> {
  if (!givesBack || letter) return false
  const { cycle, steps, target, unseen } = claim
  const isOwn = ({ payload }: InboxItem) => payload.kind === 'message' && payload.conversation === target
  const rest = status === 'stopped' ? unseen.filter(item => !isOwn(item)) : steps > 0 ? unseen : []
  await giveBackItems(tx, cycle, rest)
  return (await giveBackMessages(tx, cycle, target)) || rest.length > 0
}

async function turnTo(tx: Tx, { cycle }: Claim, conversation: string): Promise<void> {
  await markAsked(tx, cycle, conversation)
  await redirectCycle(tx, cycle, conversation)
}

/** Returns the conversations that got no answer by the cycle's end, also those that were asked about. */
async function findMissed(
  tx: Tx,
  claim: Claim,
  { isSilent, isCut }: { isSilent: boolean; isCut: boolean },
): Promise<Set<string>> {
  const missed = new Set<string>(isSilent && isCut && claim.target !== null ? [claim.target] : [])
  const mayWait = (conversation: string) => isSilent || conversation !== claim.target
  if (!userMessages(claim.items).some(({ conversation }) => mayWait(conversation))) return missed
  for (const { conversation } of await unansweredIn(tx, claim)) missed.add(conversation)
  return missed
}

/** Tells whether a person waits for the cycle's next text. */
export async function isAwaited(db: Kysely<Tables>, claim: Claim): Promise<boolean> {
  if (!userMessages(claim.items).some(({ conversation }) => conversation === claim.target)) return false
  return (await unansweredIn(db, claim)).some(({ conversation }) => conversation === claim.target)
}

/**
 * Ends a cycle within the transaction that stores the result of an ending tool: the text beside the call is
 * final, and conversations that got nothing get its notice. A summary is for the cycle's own conversation:
 * messages of others go back to the inbox. Publish the messages and announce `over` after the commit.
 */
export async function finish(
  deps: RuntimeDeps,
  tx: Tx,
  claim: Claim,
  ending: { text: string; notice: string; completed: Completion | undefined },
): Promise<{ messages: Messages; over: Ended }> {
  const messages: Messages = []
  const { text, notice, completed } = ending
  const data = toAnswerData(checkText(claim, text))
  if (!isBlank(text)) messages.push(await tell(deps, tx, claim, { kind: 'agent', text, ...data }))
  // A summary names no time at which the agent goes on with messages of others, so they go back to the inbox.
  if (completed && (await giveBackMessages(tx, claim.cycle, claim.target))) claim.hasMore = true
  const left = new Set((await unansweredIn(tx, claim)).map(({ conversation }) => conversation))
  for (const conversation of left) {
    messages.push(await tell(deps, tx, claim, { kind: 'notice', text: notice, conversation }))
  }
  const now = deps.clock.now()
  await endCycle(tx, claim.cycle, { status: 'done', at: now })
  await releaseThread(tx, claim, now)
  const end: CycleEnd = completed ? { kind: 'completed', ...completed } : { kind: 'text', text }
  return { messages, over: await settleTask(tx, claim, now, end) }
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
export async function fail(deps: RuntimeDeps, claim: Claim, failure: Failure): Promise<void> {
  const { letter } = failure
  const { calls, messages, over } = await deps.store.write(async tx => {
    const open = hasOpenCalls(claim.window) ? await cutCalls(deps, tx, claim) : undefined
    const contents = [...(open?.contents ?? []), ...toNote(failure)]
    const now = deps.clock.now()
    const lastSeq = await fencedWrite(tx, claim, contents.length, now + LEASE_MS, now)
    await appendHistory(tx, claim, lastSeq, claim.steps, contents, now)
    const told: Messages = []
    const { kind, text, data, partial = '' } = failure
    const status = letter ? 'dead' : (failure.status ?? 'failed')
    if (await giveBack(tx, claim, failure)) claim.hasMore = true
    const places = await placesToTell(tx, claim)
    if (status === 'stopped') await dropUnanswered(tx, { cycle: claim.cycle })
    if (partial !== '')
      told.push(await tell(deps, tx, claim, { kind: 'agent', text: `${partial}\n\n(stopped here)` }))
    for (const conversation of places) {
      told.push(await tell(deps, tx, claim, { kind, text, conversation, ...(data ? { data } : {}) }))
    }
    if (letter) await addDeadLetter(tx, { ...letter, ...toPlace(claim), at: now })
    await endCycle(tx, claim.cycle, { status, at: now, note: text })
    await releaseThread(tx, claim, now)
    const end = status === 'stopped' ? ('stopped' as const) : ('failed' as const)
    const ended = await settleTask(tx, claim, now, { kind: end, reason: text })
    return { calls: open?.cut ?? [], messages: [...(open?.messages ?? []), ...told], over: ended }
  })
  for (const { row, status, outcome } of calls) showCall(deps, claim, row, status, outcome.text)
  publish(deps, messages)
  announceEnded(deps, over)
}

/** Stops the cycle of a task that was ended meanwhile: every call gets its result, and nobody is told. */
export async function stopEndedTask(deps: RuntimeDeps, claim: Claim): Promise<void> {
  const { calls, messages } = await deps.store.write(async tx => {
    const open = hasOpenCalls(claim.window) ? await cutCalls(deps, tx, claim) : undefined
    const contents = open?.contents ?? []
    const now = deps.clock.now()
    const lastSeq = await releasingWrite(tx, claim, contents.length, now)
    await appendHistory(tx, claim, lastSeq, claim.steps, contents, now)
    await endCycle(tx, claim.cycle, { status: 'stopped', at: now, note: 'The task was ended.' })
    await closeTaskHistory(tx, claim.thread, now)
    return { calls: open?.cut ?? [], messages: open?.messages ?? [] }
  })
  for (const { row, status, outcome } of calls) showCall(deps, claim, row, status, outcome.text)
  publish(deps, messages)
}

function toPlace({ thread, cycle, agent }: Claim) {
  return { thread, cycle, agent: agent.name }
}

function toNote({ note, partial = '' }: Failure): HistoryContent[] {
  if (note === undefined) return []
  return [{ role: 'assistant', text: partial === '' ? note : `${partial}\n\n${note}`, calls: [] }]
}

/** Returns where a failure is told: the conversation of the reply, or a default, and every one that waits. */
export async function placesToTell(tx: Tx, claim: Claim): Promise<Set<string>> {
  const place = claim.target ?? claim.agent.task?.conversation ?? claim.agent.conversations[0]
  const waiting = await unansweredIn(tx, claim)
  return new Set([...(place === undefined ? [] : [place]), ...waiting.map(each => each.conversation)])
}
