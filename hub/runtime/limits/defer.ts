import type { ChatMessage } from '../../../schemas/chat.ts'
import { appendMessage, hasNoticeOfDay } from '../../store/conversations.ts'
import { waitingItems } from '../../store/inbox.ts'
import { holdThread, mainThreadId } from '../../store/threads.ts'
import type { Tx } from '../../store/writer.ts'
import type { ActiveCycle } from '../active-cycle.ts'
import type { RuntimeAgent, RuntimeDeps } from '../deps.ts'
import { conversationsToNotify } from '../end-cycle.ts'
import { userMessages } from '../reply.ts'
import type { LimitReached } from './limit-reached.ts'

type Deps = Pick<RuntimeDeps, 'store' | 'clock' | 'newId' | 'log' | 'signals'>

/**
 * Defers what waits for the thread until the limit ends. People who wrote are told once in each conversation
 * and day; if nobody wrote, the agent's first conversation is told.
 */
export async function deferThread(
  deps: Deps,
  agent: RuntimeAgent,
  thread: string,
  limit: LimitReached,
): Promise<void> {
  const emit = await deps.store.write(async tx => {
    await holdThread(tx, thread, Number(limit.until))
    const waiting = userMessages(await waitingItems(tx, thread))
    return notifyDeferred(deps, tx, { agent, thread, limit, waiting })
  })
  emit()
  if (thread === mainThreadId(agent.name)) deps.signals.emit('agent', { name: agent.name, status: 'waiting' })
}

/**
 * Suspends a cycle in which a budget of the day is used up, so that what people asked is answered once the
 * limit allows that. They are told once in each conversation and day.
 */
export async function deferCycle(
  deps: Deps,
  cycle: ActiveCycle,
  limit: LimitReached,
  until: number,
): Promise<void> {
  const { agent, thread } = cycle
  await cycle.suspend(until, { note: limit.message }, async ({ tx, afterCommit }) => {
    const waiting = [...userMessages(cycle.items), ...userMessages(await waitingItems(tx, thread))]
    const told = {
      agent,
      thread,
      limit,
      waiting,
      conversations: await conversationsToNotify(tx, cycle),
      cycle: cycle.id,
    }
    afterCommit(await notifyDeferred(deps, tx, told))
  })
}

/**
 * Tells the conversations that wait, and `conversations`, once a day each; without any, the agent's first.
 * Returns what is to be called after the commit.
 */
async function notifyDeferred(
  { newId, clock, log, signals }: Deps,
  tx: Tx,
  deferred: {
    agent: RuntimeAgent
    thread: string
    limit: LimitReached
    waiting: readonly { conversation: string; messageId: string }[]
    conversations?: Set<string>
    cycle?: string
  },
): Promise<() => void> {
  const { agent, thread, limit, waiting, cycle } = deferred
  const all = new Set([...(deferred.conversations ?? []), ...waiting.map(each => each.conversation)])
  const messages: ChatMessage[] = []
  for (const conversation of all.size > 0 ? all : agent.conversations.slice(0, 1)) {
    if (await hasNoticeOfDay(tx, conversation, limit.data)) continue
    const inReplyTo = waiting.filter(each => each.conversation === conversation).map(each => each.messageId)
    const message = {
      id: newId('msg'),
      conversation,
      kind: 'notice' as const,
      author: agent.name,
      text: limit.message,
      at: clock.now(),
      data: limit.data,
      tells: 'failures' as const,
      ...(cycle === undefined ? {} : { cycle }),
      ...(inReplyTo.length > 0 ? { inReplyTo } : {}),
    }
    messages.push(await appendMessage(tx, message))
  }
  return () => {
    log.warn('held_by_limit', { thread, ...limit.data })
    for (const message of messages) signals.emit('message', message)
    signals.emit('held', { messages: waiting.map(each => each.messageId), why: limit.message })
    signals.emit('schedules', { agent: agent.name })
  }
}
