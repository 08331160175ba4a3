import type { ChatMessage } from '../../schemas/chat.ts'
import { HUB } from '../../schemas/tokens.ts'
import { describeError } from '../core/errors.ts'
import type { ModelError } from '../core/model.ts'
import { toSentence } from '../core/text.ts'
import { appendMessage, messagesOfCycle } from '../store/conversations.ts'
import { readCycle } from '../store/cycles.ts'
import { waitingItems } from '../store/inbox.ts'
import type { ActiveCycle } from './active-cycle.ts'
import type { RuntimeDeps } from './deps.ts'
import { conversationsToNotify, deadLetter, toFinalError } from './end-cycle.ts'
import { userMessages } from './reply.ts'

/** Milliseconds that a cycle waits for its provider before it becomes a dead letter. */
export const LONGEST_WAIT_MS = 24 * 60 * 60_000
/** Text for people. The time of the next try changes with each try, so it is told where it is current. */
const WAIT =
  'I ask it again by myself, and go on once it answers. After 24 hours this counts as failed, and waits for you to have it retried.'
/** Milliseconds until the next try if nothing says when to try again. */
export const TRY_AGAIN_MS = 30_000

/**
 * Suspends a cycle whose provider cannot be reached, until it may be tried again. Its thread is free of a
 * lease, and everyone who waits is told once. After a day the cycle becomes a dead letter.
 */
export async function waitForProvider(cycle: ActiveCycle, error: ModelError): Promise<void> {
  const now = cycle.now()
  const since = cycle.suspendedAt ?? now
  if (now - since >= LONGEST_WAIT_MS) return deadLetter(cycle, toFinalError(error))
  const asked = cycle.model().health?.retryAt() ?? now + TRY_AGAIN_MS
  const retryAt = Math.min(Math.max(asked, now + 1), since + LONGEST_WAIT_MS)
  const isNew = cycle.suspendedAt === null
  const attempt = cycle.failures || 1
  await cycle.suspend(retryAt, { suspendedAt: now }, async write => {
    for (const conversation of isNew ? await conversationsToNotify(write.tx, cycle) : [])
      await cycle.message(write, {
        kind: 'error',
        text: `${toSentence(describeError(error))} ${WAIT}`,
        conversation,
        data: { attempt, of: attempt, retryAt, retryable: true, parked: true },
        tells: 'failures',
      })
  })
  if (isNew) cycle.log.warn('cycle_suspended', { cycle: cycle.id, thread: cycle.thread, error, retryAt })
}

/** Ends the cycle's wait for its provider, which answered, and tells people who read of the failure. */
export async function notifyRecovered(cycle: ActiveCycle): Promise<void> {
  if (cycle.suspendedAt === null && !cycle.hasReportedFailure) return
  await cycle.commit(async write => {
    await cycle.endWait(write)
    for (const conversation of await conversationsToNotify(write.tx, cycle))
      await cycle.message(write, { kind: 'notice', text: 'The model answers again; I go on.', conversation })
  })
}

/**
 * Tells people who write to a thread whose cycle waits for its provider, once in each conversation; what they
 * wrote waits in the inbox.
 */
export async function notifyWaiting(
  { store, clock, newId, signals }: Pick<RuntimeDeps, 'store' | 'clock' | 'newId' | 'signals'>,
  thread: string,
  cycle: string,
): Promise<void> {
  const messages = await store.write(async tx => {
    const { parked_at, status } = await readCycle(tx, cycle)
    if (status !== 'running' || parked_at === null) return []
    const told = new Set((await messagesOfCycle(tx, cycle)).map(message => message.conversation))
    const waiting = userMessages(await waitingItems(tx, thread)).filter(each => !told.has(each.conversation))
    const posted: ChatMessage[] = []
    for (const [conversation, open] of Map.groupBy(waiting, each => each.conversation)) {
      posted.push(
        await appendMessage(tx, {
          id: newId('msg'),
          conversation,
          kind: 'error',
          author: HUB,
          text: 'The model cannot be reached just now. This waits, and is answered once it can.',
          at: clock.now(),
          cycle,
          inReplyTo: open.map(each => each.messageId),
          data: { retryable: true, parked: true },
        }),
      )
    }
    return posted
  })
  for (const message of messages) signals.emit('message', message)
}
