import { z } from 'zod'
import { conversationId } from '../../../schemas/names.ts'
import { toIso } from '../../core/clock.ts'
import { lastSeqOf, readMessages } from '../../store/conversations.ts'
import { defineMetaTool, type MetaDeps, type MetaTool } from './meta-tool.ts'

export function readMessagesTool(deps: MetaDeps): MetaTool {
  return defineMetaTool({
    name: 'read_messages',
    title: 'Read a conversation',
    description:
      'Reads messages of one of your conversations, oldest first: the newest ones, or those after a sequence number.',
    input: z.strictObject({
      conversation: conversationId,
      after: z.int().nonnegative().optional().describe('a seq; default: the newest'),
      limit: z.int().min(1).max(100).default(20),
    }),
    readOnly: true,
    async run(tx, { conversation, after, limit }, { agent }) {
      if (!deps.agentsOf(conversation).includes(agent)) {
        return { text: `conversation: ${conversation} is no conversation of yours`, isError: true }
      }
      const lastSeq = await lastSeqOf(tx, conversation)
      const messages = await readMessages(tx, conversation, after ?? Math.max(0, lastSeq - limit), limit)
      const lines = messages.map(
        one => `${one.seq} ${toIso(one.at)} ${one.author} (${one.kind}): ${one.text}`,
      )
      return {
        text: lines.join('\n') || 'No messages.',
        isError: false,
        structured: { messages, lastSeq },
      }
    },
  })
}
