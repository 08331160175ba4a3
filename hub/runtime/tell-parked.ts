import type { ChatMessage } from '../../schemas/chat.ts'
import { appendMessage, messagesOfCycle } from '../store/conversations.ts'
import { readCycle } from '../store/cycles.ts'
import { waitingItems } from '../store/inbox.ts'
import type { RuntimeDeps } from './deps.ts'
import { userMessages } from './reply.ts'

/**
 * Tells people who write to a thread whose cycle waits for its provider, once in each conversation; what they
 * wrote waits in the inbox.
 */
export async function tellParked(deps: RuntimeDeps, thread: string, cycle: string): Promise<void> {
  const messages = await deps.store.write(async tx => {
    const { parked_at, status } = await readCycle(tx, cycle)
    if (status !== 'running' || parked_at === null) return []
    const told = new Set((await messagesOfCycle(tx, cycle)).map(message => message.conversation))
    const waiting = userMessages(await waitingItems(tx, thread)).filter(each => !told.has(each.conversation))
    const posted: ChatMessage[] = []
    for (const [conversation, asked] of Map.groupBy(waiting, each => each.conversation)) {
      posted.push(
        await appendMessage(tx, {
          id: deps.newId('msg'),
          conversation,
          kind: 'error',
          author: 'hub',
          text: 'The model cannot be reached just now. This waits, and is answered once it can.',
          at: deps.clock.now(),
          cycle,
          inReplyTo: asked.map(each => each.messageId),
          data: { retryable: true, parked: true },
        }),
      )
    }
    return posted
  })
  for (const message of messages) deps.signals.emit('message', message)
}
