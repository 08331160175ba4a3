import type { AgentStatus, ChatMessage, MessageKind } from '../../schemas/chat.ts'
import { appendMessage } from '../store/conversations.ts'
import { fencedWrite } from '../store/history.ts'
import { answerMessages } from '../store/unanswered.ts'
import type { Tx } from '../store/writer.ts'
import { type Claim, LEASE_MS } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { userMessages } from './reply.ts'

export interface Telling {
  kind: MessageKind
  text: string
  author?: string
  conversation?: string
  data?: Record<string, unknown>
}

/** Writes a message of the cycle to its conversation; undefined for none. Publish it after the commit. */
export async function tell(
  deps: RuntimeDeps,
  tx: Tx,
  claim: Claim,
  what: Telling,
): Promise<ChatMessage | undefined> {
  const conversation = what.conversation ?? claim.target
  if (conversation === null) return undefined
  const inReplyTo = userMessages(claim.items).map(message => message.messageId)
  if (what.kind === 'agent') await answerMessages(tx, claim.thread, conversation)
  return appendMessage(tx, {
    id: deps.newId('msg'),
    conversation,
    kind: what.kind,
    author: what.author ?? claim.agent.name,
    text: what.text,
    at: deps.clock.now(),
    cycle: claim.cycle,
    ...(inReplyTo.length > 0 && what.kind !== 'tool' ? { inReplyTo } : {}),
    ...toData(claim, what),
  })
}

/** Returns the message's data; an agent's message names the cycle, whose streamed text it replaces. */
function toData(claim: Claim, { kind, data }: Telling): { data?: Record<string, unknown> } {
  if (kind === 'agent') return { data: { cycle: claim.cycle, ...data } }
  return data ? { data } : {}
}

/** Emits messages whose transaction is committed. */
export function publish(deps: RuntimeDeps, messages: readonly (ChatMessage | undefined)[]): void {
  for (const message of messages) if (message) deps.signals.emit('message', message)
}

/** Writes a message outside any other write, and publishes it. */
export async function tellNow(deps: RuntimeDeps, claim: Claim, what: Telling): Promise<void> {
  const message = await deps.store.write(async tx => {
    const now = deps.clock.now()
    await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
    return tell(deps, tx, claim, what)
  })
  publish(deps, [message])
}

/** Announces that the cycle has ended, once, as soon as that is stored. */
export function tellEnd(deps: RuntimeDeps, claim: Claim): void {
  if (claim.endTold) return
  claim.endTold = true
  deps.signals.emit('cycleEnded', { cycle: claim.cycle, thread: claim.thread })
}

/** Shows what an agent does, which is what its main thread does. */
export function showAgent(deps: RuntimeDeps, { agent }: Claim, status: AgentStatus): void {
  if (!agent.task) deps.signals.emit('agent', { name: agent.name, status })
}
