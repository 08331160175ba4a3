import type { CallContext, ToolOutcome } from '../core/tool-box.ts'
import { appendMessage, messagesOfCycle } from '../store/conversations.ts'
import { postItem } from '../store/inbox.ts'
import { ensureMainThread, mainThreadId } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import { hopsTo } from './hops.ts'
import type { MetaDeps } from './meta-tool.ts'

/** Messages between agents in a row of which the last is refused: without a person they go on for ever. */
const MOST_HOPS = 6

/** Posts to the main thread of another agent and wakes it. */
export async function sendToAgent(
  deps: MetaDeps,
  tx: Tx,
  message: { to: string; text: string },
  context: CallContext,
): Promise<ToolOutcome> {
  const { to, text } = message
  const { agent, thread, now } = context
  if (!deps.agent(to)) return { text: `to: there is no agent ${to}`, isError: true }
  if (mainThreadId(to) === thread) return { text: 'to: that is you', isError: true }
  const hops = (await hopsTo(tx, context)) + 1
  if (hops >= MOST_HOPS) return refuse(deps, tx, { to, hops }, context)
  const id = deps.newId('msg')
  const target = await ensureMainThread(tx, to, now)
  const payload = { kind: 'agent' as const, from: agent, thread, text, hops }
  await postItem(tx, { thread: target, source: 'agent', externalId: id, payload, at: now })
  context.afterCommit(() => deps.signals.emit('posted', { thread: target }))
  return { text: `Sent to the agent ${to}.`, isError: false, structured: { agent: to, id } }
}

/** Refuses a message, and tells people so once in a cycle, however often it tries. */
async function refuse(
  deps: MetaDeps,
  tx: Tx,
  { to, hops }: { to: string; hops: number },
  { agent, cycle, now, afterCommit }: CallContext,
): Promise<ToolOutcome> {
  const why = `${hops - 1} messages between agents led to this one with no person among them`
  const [conversation] = deps.agent(agent)?.conversations ?? []
  const isTold = (await messagesOfCycle(tx, cycle)).some(({ data }) => data?.['refused'] === 'hops')
  if (conversation !== undefined && !isTold) {
    const notice = await appendMessage(tx, {
      id: deps.newId('msg'),
      conversation,
      kind: 'notice',
      author: agent,
      text: `I did not send a message to the agent ${to}: ${why}. Write to one of us to have us go on.`,
      at: now,
      data: { refused: 'hops' },
      cycle,
    })
    afterCommit(() => deps.signals.emit('message', notice))
  }
  const next = 'End this here; a person was told and can have you go on.'
  return { text: `Not sent: ${why}. ${next}`, isError: true }
}
