import { z } from 'zod'
import { withoutPictures } from '../../schemas/chat.ts'
import { conversationId } from '../../schemas/names.ts'
import { toIso } from '../core/clock.ts'
import { toItem } from '../core/show-item.ts'
import { quote, quoteAfter, toLine } from '../core/text.ts'
import type { ToolOutcome } from '../core/tool-box.ts'
import { lastSeqOf, readMessages as messagesOf } from '../store/conversations.ts'
import { type InboxItem, readItem } from '../store/inbox.ts'
import { defineMetaTool, done, refused } from './meta-tool.ts'

/** Characters of a long item that one call reads. */
const PART = 8_000

export const readMessages = defineMetaTool({
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
  forGuests: true,
  async run(tx, { conversation, after, limit, item, offset }, { agent, thread, power }, { agentsOf }) {
    if (item !== undefined) {
      const found = await readItem(tx, thread, item)
      return found
        ? showPart(found, offset)
        : refused(`item: your inbox had no item ${item}, or it is too old`)
    }
    if (conversation === undefined) return refused('conversation or item is needed')
    if (power === 'guest') return refused('conversation: guests read no conversations through an agent')
    if (!agentsOf(conversation).includes(agent))
      return refused(`conversation: ${conversation} is no conversation of yours`)
    const lastSeq = await lastSeqOf(tx, conversation)
    const messages = await messagesOf(tx, conversation, after ?? Math.max(0, lastSeq - limit), limit)
    const lines = messages.map(({ seq, at, author, kind, text }) =>
      quoteAfter(`${seq} ${toIso(at)} ${toLine(author)} (${kind}):`, text),
    )
    const isForeign = messages.some(({ kind, data }) => kind === 'tool' || data?.['power'] !== undefined)
    const structured = { messages: messages.map(withoutPictures), lastSeq }
    return done(lines.join('\n') || 'No messages.', structured, isForeign)
  },
})

function showPart(item: InboxItem, offset: number): ToolOutcome {
  const { text } = toItem(item)
  const part = text.slice(offset, offset + PART)
  const end = offset + part.length
  const more = end < text.length ? `; go on with offset ${end}` : '; this is the end'
  return { text: `Characters ${offset} to ${end} of ${text.length}${more}.\n${quote(part)}`, isError: false }
}
