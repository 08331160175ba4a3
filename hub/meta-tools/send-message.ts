import { z } from 'zod'
import { messageText } from '../../schemas/chat.ts'
import { conversationId, name } from '../../schemas/names.ts'
import { isAtLeast } from '../../schemas/power.ts'
import type { CallContext, ToolOutcome } from '../core/tool-box.ts'
import { appendMessage, messagesOfCycle } from '../store/conversations.ts'
import { messagesTakenBy, postItem } from '../store/inbox.ts'
import { ensureMainThread, mainThreadId } from '../store/threads.ts'
import { answerMessages } from '../store/unanswered.ts'
import type { Tx } from '../store/writer.ts'
import { hopsTo } from './hops.ts'
import { defineMetaTool, done, type MetaDeps, refused } from './meta-tool.ts'

const AGENT = 'agent:'
/** Messages between agents in a row of which the last is refused: without a person they go on for ever. */
const MOST_HOPS = 6

export const sendMessage = defineMetaTool({
  name: 'send_message',
  title: 'Send a message',
  description:
    'Writes a message into a conversation, or to another agent, which it wakes. Your final text goes to the conversation that the inbox names by itself; use this for the others.',
  input: z.strictObject({
    to: z
      .union([z.templateLiteral(['agent:', name]), conversationId])
      .describe('a conversation, such as homelab, or agent:<name> for another agent'),
    text: messageText,
  }),
  async run(tx, { to, text }, context, deps) {
    if (to.startsWith(AGENT)) return sendToAgent(deps, tx, { to: to.slice(AGENT.length), text }, context)
    const { agent, cycle, thread, now, power } = context
    if (!deps.agentsOf(to).includes(agent)) return refused(`to: ${to} is no conversation of yours`)
    const inReplyTo = await messagesTakenBy(tx, cycle)
    const message = await appendMessage(tx, {
      id: deps.newId('msg'),
      conversation: to,
      kind: 'agent',
      author: agent,
      text,
      at: now,
      cycle,
      ...(isAtLeast(power, 'routine') ? {} : { data: { power } }),
      ...(inReplyTo.length > 0 ? { inReplyTo } : { tells: 'reminders' }),
    })
    await answerMessages(tx, thread, to)
    context.afterCommit(() => deps.signals.emit('message', message))
    return done(`Sent to ${to}.`, { conversation: to, id: message.id })
  },
})

/** Posts to the main thread of another agent and wakes it. */
async function sendToAgent(
  deps: MetaDeps,
  tx: Tx,
  { to, text }: { to: string; text: string },
  context: CallContext,
): Promise<ToolOutcome> {
  const { agent, thread, now, power } = context
  if (!deps.agent(to)) return refused(`to: there is no agent ${to}`)
  if (mainThreadId(to) === thread) return refused('to: that is you')
  const hops = (await hopsTo(tx, context)) + 1
  if (hops >= MOST_HOPS) return refuseHops(deps, tx, { to, hops }, context)
  const id = deps.newId('msg')
  const target = await ensureMainThread(tx, to, now)
  const payload = { kind: 'agent' as const, from: agent, thread, text, hops }
  await postItem(tx, { thread: target, source: 'agent', externalId: id, payload, power, at: now })
  context.afterCommit(() => deps.signals.emit('posted', { thread: target }))
  return done(`Sent to the agent ${to}.`, { agent: to, id })
}

/** Refuses a message, and tells people so once in a cycle, however often it tries. */
async function refuseHops(
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
  return refused(`Not sent: ${why}. End this here; a person was told and can have you go on.`)
}
