import { z } from 'zod'
import { MAX_TITLE, messageKinds, withoutPictures } from '../../../schemas/chat.ts'
import { conversationId } from '../../../schemas/names.ts'
import { toIso } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { checkUse, isOwn, seesSharedOnly } from '../../core/principal.ts'
import { plural, quoteAfter, toLine } from '../../core/text.ts'
import { changeConversation, lastSeqOf, listConversations, readMessages } from '../../store/conversations.ts'
import { deleteConversation } from '../../store/delete-conversation.ts'
import { searchMessages } from '../../store/search-messages.ts'
import { defineHubTool } from './hub-tool.ts'

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

export const listAllConversations = defineHubTool({
  name: 'hub_list_conversations',
  title: 'List conversations',
  description: 'The conversations that you may read, the latest first.',
  input: z.strictObject({}),
  output: z.object({
    conversations: z.array(
      z.object({
        id: z.string(),
        title: z.string().optional(),
        pinned: z.boolean().optional(),
        lastSeq: z.int().describe('number of its messages'),
        lastAt: z.number().describe('unix milliseconds'),
      }),
    ),
  }),
  effect: 'reads',
  right: 'look',
  async run(_args, { deps, principal }) {
    const all = await listConversations(deps.store.db)
    const readable = all.filter(({ id }) => deps.mayUse(principal, id))
    return { conversations: readable.sort((one, other) => other.lastAt - one.lastAt) }
  },
  toText: ({ conversations }) =>
    conversations
      .map(({ id, title, lastSeq, lastAt }) => {
        const name = title === undefined ? id : `${id} (${toLine(title)})`
        return `${name}: ${plural(lastSeq, 'message')}, the last ${toIso(lastAt)}`
      })
      .join('\n') || 'No conversations.',
})

export const readConversation = defineHubTool({
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
  right: 'look',
  async run({ conversation, after, limit }, { deps, principal }) {
    checkUse(deps.mayUse, principal, conversation)
    return {
      messages: (await readMessages(deps.store.db, conversation, after, limit)).map(withoutPictures),
      lastSeq: await lastSeqOf(deps.store.db, conversation),
    }
  },
  toText: ({ messages }) => messages.map(describeMessage).join('\n') || 'No messages.',
})

export function describeMessage({ seq, author, text }: z.infer<typeof message>): string {
  return quoteAfter(`${seq} ${toLine(author)}:`, text)
}

const LONGEST_QUERY = 200

export const searchAllMessages = defineHubTool({
  name: 'hub_search_messages',
  title: 'Search conversations',
  description:
    'Finds messages of people and agents that hold every word, in all conversations that you may read, the newest first.',
  input: z.strictObject({
    query: z.string().trim().min(1).max(LONGEST_QUERY),
    limit: z.int().min(1).max(100).default(20),
  }),
  output: z.object({
    messages: z.array(
      message.pick({ conversation: true, seq: true, author: true, at: true }).extend({ snippet: z.string() }),
    ),
  }),
  effect: 'reads',
  right: 'look',
  async run({ query, limit }, { deps, principal }) {
    const all = (await listConversations(deps.store.db)).map(({ id }) => id)
    const conversations = all.filter(id => deps.mayUse(principal, id))
    return { messages: await searchMessages(deps.store.db, { query, conversations, limit }) }
  },
  toText: ({ messages }) =>
    messages
      .map(
        ({ conversation, seq, author, snippet }) => `${conversation} ${seq}, ${toLine(author)}: ${snippet}`,
      )
      .join('\n') || 'Nothing was found.',
})

export const changeOneConversation = defineHubTool({
  name: 'hub_change_conversation',
  title: 'Rename or pin a conversation',
  description:
    'Gives a conversation a title, in any script, or pins it at the top of the list, for everybody. Members and guests do it in conversations of their own.',
  input: z.strictObject({
    conversation: conversationId,
    title: z.string().trim().max(MAX_TITLE).optional().describe('empty: its own name again'),
    pinned: z.boolean().optional(),
  }),
  output: z.object({ conversation: z.string() }),
  effect: 'adds',
  right: 'chat',
  async run({ conversation, ...change }, { deps, principal }) {
    checkUse(deps.mayUse, principal, conversation)
    if (seesSharedOnly(principal) && !isOwn(principal, conversation))
      throw new HubError('forbidden', `Only the owner renames or pins ${conversation}, which others use too.`)
    if (change.title === undefined && change.pinned === undefined)
      throw new HubError('invalid_arguments', 'Give a title, or pinned.')
    await deps.store.write(tx => changeConversation(tx, conversation, change))
    deps.signals.emit('conversation', { id: conversation })
    return { conversation }
  },
  toText: ({ conversation }) => `Changed ${conversation}.`,
})

export const deleteOneConversation = defineHubTool({
  name: 'hub_delete_conversation',
  title: 'Delete a conversation',
  description:
    "Deletes a conversation for good, together with what its agents' history, search and summaries hold of it. Stored facts, active schedules and backups stay. There is no undo.",
  input: z.strictObject({ conversation: conversationId }),
  output: z.object({
    conversation: z.string(),
    messages: z.int(),
    inboxItems: z.int(),
    cycles: z.int().describe('whose steps, calls and results are gone'),
    historyRows: z.int(),
    summaries: z.int().describe('written anew without it'),
    schedules: z.array(z.string()).describe('made in it; they go on'),
  }),
  effect: 'removes',
  // Programs and members rename and pin; what is gone for good is the owner's.
  right: 'admin',
  async run({ conversation }, { deps, principal }) {
    checkUse(deps.mayUse, principal, conversation)
    const deleted = await deps.store.write(tx => deleteConversation(tx, conversation))
    deps.signals.emit('forgotten', { conversation })
    await deps.store.compact()
    return { conversation, ...deleted }
  },
  toText: ({ conversation, messages, historyRows, summaries, schedules }) => {
    const goOn =
      schedules.length === 0
        ? ''
        : ` Schedules made in it go on: ${schedules.join(', ')}; hub_cancel_schedule ends them.`
    return `Deleted ${conversation}: ${plural(messages, 'message')}, ${plural(historyRows, 'row')} of history; summaries written anew: ${summaries}.${goOn} Backups made before still hold it.`
  },
})
