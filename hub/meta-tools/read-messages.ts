import { z } from 'zod'
import { withoutPictures } from '../../schemas/chat.ts'
import { conversationId } from '../../schemas/names.ts'
import { toIso } from '../core/clock.ts'
import { toItem } from '../core/show-item.ts'
import { quote, quoteAfter, toLine } from '../core/text.ts'
import type { CallContext, ToolOutcome } from '../core/tool-box.ts'
import { lastSeqOf, readMessages } from '../store/conversations.ts'
import { readItem } from '../store/inbox.ts'
import type { Tx } from '../store/writer.ts'
import { defineMetaTool, type MetaDeps, type MetaTool } from './meta-tool.ts'

/** Characters of a long item that one call reads. */
const PART = 8_000

export function readMessagesTool(deps: MetaDeps): MetaTool {
  return defineMetaTool({
    name: 'read_messages',
    title: 'Read a conversation',
    description:
      'Reads messages of one of your conversations, oldest first: the newest ones, or those after a sequence number. With item and offset it reads on in a long item of your inbox.',
    input: z.strictObject({
      conversation: conversationId.optional(),
      after: z.int().nonnegative().optional().describe('a seq; default: the newest'),
      limit: z.int().min(1).max(100).default(20),
      item: z.int().positive().optional().describe('in place of a conversation: the number of the item'),
      offset: z.int().nonnegative().default(0).describe('with item: the characters before the part'),
    }),
    readOnly: true,
    async run(tx, { conversation, after, limit, item, offset }, context) {
      if (item !== undefined) return readPart(tx, { item, offset }, context)
      if (conversation === undefined) return failed('conversation or item is needed')
      if (!deps.agentsOf(conversation).includes(context.agent))
        return failed(`conversation: ${conversation} is no conversation of yours`)
      const lastSeq = await lastSeqOf(tx, conversation)
      const messages = await readMessages(tx, conversation, after ?? Math.max(0, lastSeq - limit), limit)
      const lines = messages.map(({ seq, at, author, kind, text }) =>
        quoteAfter(`${seq} ${toIso(at)} ${toLine(author)} (${kind}):`, text),
      )
      return {
        text: lines.join('\n') || 'No messages.',
        isError: false,
        structured: { messages: messages.map(withoutPictures), lastSeq },
      }
    },
  })
}

async function readPart(
  tx: Tx,
  { item, offset }: { item: number; offset: number },
  { thread }: CallContext,
): Promise<ToolOutcome> {
  const found = await readItem(tx, thread, item)
  if (!found) return failed(`item: your inbox had no item ${item}, or it is too old`)
  const { text } = toItem(found)
  const part = text.slice(offset, offset + PART)
  const end = offset + part.length
  const more = end < text.length ? `; go on with offset ${end}` : '; this is the end'
  return { text: `Characters ${offset} to ${end} of ${text.length}${more}.\n${quote(part)}`, isError: false }
}

function failed(text: string): ToolOutcome {
  return { text, isError: true }
}
