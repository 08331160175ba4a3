import type { HistoryContent } from '../../schemas/inbox.ts'
import { isBlank } from '../core/text.ts'
import { hasEnded } from '../store/threads.ts'
import { markAsked } from '../store/unanswered.ts'
import type { Tx } from '../store/writer.ts'
import type { ActiveCycle, CycleMessage } from './active-cycle.ts'
import { toUnanswered } from './batch.ts'
import { checkFinalText, toAnswerData } from './check-answer.ts'
import { type CompactDeps, compact, mayCompactAtEnd } from './compaction.ts'
import { unansweredIn } from './end-cycle.ts'
import { userMessages } from './reply.ts'

/** A step without calls. */
export interface FinalStep {
  content: HistoryContent
  /** Text that people get; empty for silence, which the history does not keep. */
  text: string
  /** The reason why there is no text, for people who wait for one. */
  why: Pick<CycleMessage, 'text' | 'data'>
  /** Whether the reply was cut; if it has no text, that is told where nobody waits, too. */
  isCut: boolean
  /** Tokens that the provider counted up to the step; undefined if its count is not to be believed. */
  counted: number | undefined
  signal: AbortSignal
}

/**
 * Writes the step, the reply and the cycle's end in one commit. If the answer does not fit its schema, or a
 * conversation got no answer, the cycle does not end: the agent is asked for it in one more step.
 */
export async function endWithText(
  deps: CompactDeps,
  cycle: ActiveCycle,
  { content, text, why, isCut, counted, signal }: FinalStep,
): Promise<'think' | 'ended'> {
  const isSilent = isBlank(text)
  const mayCompact = mayCompactAtEnd(deps, cycle)
  const next = await cycle.commit(async write => {
    const { tx, now } = write
    const { repair, ...checked } = await checkFinalText(tx, cycle, text)
    const question = repair ? undefined : await findQuestion(tx, cycle)
    const added = repair ?? (question && toUnanswered(question.conversation, question.texts, now))
    await cycle.step(write, { answer: isSilent ? undefined : content, added, counted })
    if (isSilent && !repair && cycle.target !== null) await markAsked(tx, cycle.id, cycle.target)
    if (!isSilent && !repair) await cycle.message(write, { kind: 'agent', text, data: toAnswerData(checked) })
    if (question) await cycle.redirect(write, question.conversation)
    if (added) return 'think'
    for (const conversation of await findMissed(tx, cycle, { isSilent, isCut }))
      await cycle.message(write, { kind: 'notice', conversation, ...why })
    const task = { kind: 'text' as const, text, ...checked }
    await cycle.end(write, { status: 'done', task, keepsThread: mayCompact })
    return 'ended'
  })
  if (next === 'ended' && mayCompact) await compactAtEnd(deps, cycle, signal)
  return next
}

/** Compacts the window for the next cycle after the end of this one, and only then releases the thread. */
async function compactAtEnd(deps: CompactDeps, cycle: ActiveCycle, signal: AbortSignal): Promise<void> {
  try {
    const isOver = cycle.agent.task && (await hasEnded(cycle.db, cycle.thread))
    if (!isOver) await compact(deps, cycle, 'end', signal)
  } catch (error) {
    cycle.log.warn('no_room_made', { thread: cycle.thread, error })
  } finally {
    await cycle.release()
  }
}

/** Returns the next conversation, besides that of the present text, with a message not asked about yet. */
async function findQuestion(
  tx: Tx,
  cycle: ActiveCycle,
): Promise<{ conversation: string; texts: string[] } | undefined> {
  if (userMessages(cycle.items).every(({ conversation }) => conversation === cycle.target)) return undefined
  const open = (await unansweredIn(tx, cycle)).filter(
    ({ conversation, wasAsked }) => conversation !== cycle.target && !wasAsked,
  )
  const conversation = open[0]?.conversation
  if (conversation === undefined) return undefined
  const own = open.filter(each => each.conversation === conversation)
  return { conversation, texts: own.map(({ text }) => text) }
}

/** Returns the conversations that got no answer by the cycle's end, also those that were asked about. */
async function findMissed(
  tx: Tx,
  cycle: ActiveCycle,
  { isSilent, isCut }: { isSilent: boolean; isCut: boolean },
): Promise<Set<string>> {
  const missed = new Set<string>(isSilent && isCut && cycle.target !== null ? [cycle.target] : [])
  const mayWait = (conversation: string) => isSilent || conversation !== cycle.target
  if (!userMessages(cycle.items).some(({ conversation }) => mayWait(conversation))) return missed
  for (const { conversation } of await unansweredIn(tx, cycle)) missed.add(conversation)
  return missed
}

/** Tells whether a person waits for the cycle's next text. */
export async function isAwaited(cycle: ActiveCycle): Promise<boolean> {
  if (!userMessages(cycle.items).some(({ conversation }) => conversation === cycle.target)) return false
  return (await unansweredIn(cycle.db, cycle)).some(({ conversation }) => conversation === cycle.target)
}
