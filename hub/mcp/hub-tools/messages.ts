import { z } from 'zod'
import { messageKinds, withoutPictures } from '../../../schemas/chat.ts'
import { conversationId } from '../../../schemas/names.ts'
import { quoteAfter, toLine } from '../../core/text.ts'
import { lastSeqOf, readMessages } from '../../store/conversations.ts'
import type { HubToolDeps } from './deps.ts'
import { defineHubTool, type HubTool } from './hub-tool.ts'

const message = z.object({
  seq: z.int(),
  id: z.string(),
  conversation: z.string(),
  kind: z.enum(messageKinds),
  author: z.string(),
  text: z.string(),
  at: z.number().describe('unix milliseconds'),
  clientId: z.string().optional(),
  inReplyTo: z.array(z.string()).optional(),
  data: z.record(z.string(), z.unknown()).optional(),
})

export function readConversation(deps: HubToolDeps): HubTool {
  return defineHubTool({
    name: 'hub_read_messages',
    title: 'Read a conversation',
    description: 'The messages of a conversation after a sequence number, oldest first.',
    input: z.strictObject({
      conversation: conversationId,
      after: z.int().nonnegative().default(0),
      limit: z.int().min(1).max(1000).default(100),
    }),
    output: z.object({ messages: z.array(message), lastSeq: z.int() }),
    effect: 'reads',
    run: async ({ conversation, after, limit }) => ({
      messages: (await readMessages(deps.store.db, conversation, after, limit)).map(withoutPictures),
      lastSeq: await lastSeqOf(deps.store.db, conversation),
    }),
    toText: ({ messages }) => messages.map(describeMessage).join('\n') || 'No messages.',
  })
}

export function describeMessage({ seq, author, text }: z.infer<typeof message>): string {
  return quoteAfter(`${seq} ${toLine(author)}:`, text)
}
