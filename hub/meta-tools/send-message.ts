import { z } from 'zod'
import { messageText } from '../../schemas/chat.ts'
import { conversationId, name } from '../../schemas/names.ts'
import { appendMessage } from '../store/conversations.ts'
import { messagesTakenBy } from '../store/inbox.ts'
import { answerMessages } from '../store/unanswered.ts'
import { defineMetaTool, type MetaDeps, type MetaTool } from './meta-tool.ts'
import { sendToAgent } from './send-to-agent.ts'

const AGENT = 'agent:'

export function sendMessage(deps: MetaDeps): MetaTool {
  return defineMetaTool({
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
    async run(tx, { to, text }, context) {
      if (to.startsWith(AGENT)) return sendToAgent(deps, tx, { to: to.slice(AGENT.length), text }, context)
      if (!deps.agentsOf(to).includes(context.agent)) {
        return { text: `to: ${to} is no conversation of yours`, isError: true }
      }
      const inReplyTo = await messagesTakenBy(tx, context.cycle)
      const message = await appendMessage(tx, {
        id: deps.newId('msg'),
        conversation: to,
        kind: 'agent',
        author: context.agent,
        text,
        at: context.now,
        cycle: context.cycle,
        ...(inReplyTo.length > 0 ? { inReplyTo } : {}),
      })
      await answerMessages(tx, context.thread, to)
      context.afterCommit(() => deps.signals.emit('message', message))
      return { text: `Sent to ${to}.`, isError: false, structured: { conversation: to, id: message.id } }
    },
  })
}
