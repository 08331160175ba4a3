import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { type ChatMessage, type ConversationEntry, MAX_TITLE, type MessageKind } from '../../schemas/chat.ts'
import { UNNAMED_SLUG } from '../../schemas/names.ts'
import type { NotifiedOf } from '../../schemas/notify.ts'
import { storedPicture } from '../../schemas/picture.ts'
import { HubError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { toLine } from '../core/text.ts'
import { addNotification } from './notifications.ts'
import type { MessageRow, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export interface NewMessage {
  id: string
  conversation: string
  kind: MessageKind
  author: string
  text: string
  at: number
  token?: string
  clientId?: string
  inReplyTo?: string[]
  data?: Record<string, unknown>
  cycle?: string
  /** The kind of notification that the message causes. */
  tells?: NotifiedOf | undefined
}

/** Appends a message with the next `seq`; the first message makes the conversation. */
export async function appendMessage(tx: Tx, message: NewMessage): Promise<ChatMessage> {
  return (await appendOnce(tx, message)).posted
}

/** Appends a message, unless its author sent one under the same `clientId` before: `posted` is then that one. */
export async function appendOnce(
  tx: Tx,
  message: NewMessage,
): Promise<{ posted: ChatMessage; isNew: boolean }> {
  const { conversation, token = null, clientId = null, at } = message
  const { rows } = await sql<{ seq: number }>`
    insert into conversations (id, last_seq, created_at, title)
    values (${conversation}, 1, ${at}, ${titleFrom(message)})
    on conflict (id) do update set last_seq = conversations.last_seq + 1 returning last_seq as seq`.execute(
    tx,
  )
  const seq = rows[0]?.seq ?? 0
  const row: MessageRow = {
    conversation_id: conversation,
    seq,
    id: message.id,
    kind: message.kind,
    author: message.author,
    text: message.text,
    at,
    token,
    client_id: clientId,
    in_reply_to_json: message.inReplyTo ? JSON.stringify(message.inReplyTo) : null,
    data_json: message.data ? JSON.stringify(message.data) : null,
    cycle_id: message.cycle ?? null,
  }
  const { numAffectedRows } = await sql`
    insert into "messages" (conversation_id, seq, id, kind, author, text, at, token, client_id,
      in_reply_to_json, data_json, cycle_id)
    values (${conversation}, ${seq}, ${row.id}, ${row.kind}, ${row.author}, ${row.text}, ${at}, ${token},
      ${clientId}, ${row.in_reply_to_json}, ${row.data_json}, ${row.cycle_id})
    on conflict (conversation_id, token, client_id) where client_id is not null do nothing`.execute(tx)
  if (numAffectedRows !== 0n) {
    if (message.tells) await addNotification(tx, `${conversation}${MARK}${seq}`, message.tells, at)
    return { posted: toChatMessage(row), isNew: true }
  }
  await tx
    .updateTable('conversations')
    .set({ last_seq: seq - 1 })
    .where('id', '=', conversation)
    .execute()
  const posted = await findByClientId(tx, conversation, token ?? '', clientId ?? '')
  if (!posted) throw new Error(`The message ${clientId} is neither new nor there`)
  return { posted, isNew: false }
}

/** Returns the first words of what a person wrote, where the conversation has no name of its own. */
function titleFrom({ conversation, kind, text }: NewMessage): string | null {
  const [, slug = ''] = conversation.split('/')
  return kind === 'user' && UNNAMED_SLUG.test(slug) ? toTitle(text) : null
}

/** Returns the text as a title: on one line, at most `MAX_TITLE` characters, cut after a word if it can be. */
function toTitle(text: string): string | null {
  const line = toLine(text).trim()
  if (line.length <= MAX_TITLE) return line || null
  const start = [...line].slice(0, 60).join('')
  return `${start.replace(/(.{20,})\s\S*$/u, '$1')}…`
}

const MARK = '#'

/** Returns the message that a notification is of; undefined if it was deleted. */
export function messageOfNotification(db: Kysely<Tables>, id: string): Promise<MessageRow | undefined> {
  const [conversation = '', seq = ''] = id.split(MARK)
  return db
    .selectFrom('messages')
    .selectAll()
    .where('conversation_id', '=', conversation)
    .where('seq', '=', Number(seq))
    .executeTakeFirst()
}

/** Returns the message that a client already sent under its own id, if it did. */
export async function findByClientId(tx: Tx, conversation: string, token: string, clientId: string) {
  const row = await tx
    .selectFrom('messages')
    .selectAll()
    .where('conversation_id', '=', conversation)
    .where('token', '=', token)
    .where('client_id', '=', clientId)
    .executeTakeFirst()
  return row && toChatMessage(row)
}

/** Returns at most `limit` messages after `after`, oldest first. */
export async function readMessages(db: Kysely<Tables>, conversation: string, after: number, limit: number) {
  const rows = await db
    .selectFrom('messages')
    .selectAll()
    .where('conversation_id', '=', conversation)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute()
  return rows.map(toChatMessage)
}

export async function messagesOfCycle(db: Kysely<Tables>, cycle: string): Promise<ChatMessage[]> {
  const rows = await db
    .selectFrom('messages')
    .selectAll()
    .where('cycle_id', '=', cycle)
    .orderBy('seq')
    .execute()
  return rows.map(toChatMessage)
}

/**
 * Tells whether the conversation got a notice of a limit on that day. `limit` and `day` are those of the
 * notice's data.
 */
export async function hasNoticeOfDay(
  db: Kysely<Tables>,
  conversation: string,
  { limit, day }: Record<string, unknown>,
): Promise<boolean> {
  const row = await db
    .selectFrom('messages')
    .select('seq')
    .where('conversation_id', '=', conversation)
    .where('kind', '=', 'notice')
    .where('data_json', 'like', `%"limit":${JSON.stringify(limit)}%`)
    .where('data_json', 'like', `%"day":${JSON.stringify(day)}%`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the notice that a message got instead of a cycle, if it got one. */
export async function noticeTo(db: Kysely<Tables>, conversation: string, message: string) {
  const row = await db
    .selectFrom('messages')
    .selectAll()
    .where('conversation_id', '=', conversation)
    .where('kind', '=', 'notice')
    .where('in_reply_to_json', 'like', `%${JSON.stringify(message)}%`)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && toChatMessage(row)
}

/** Returns the newest seq of a conversation, 0 for one that nobody used yet. */
export async function lastSeqOf(db: Kysely<Tables>, conversation: string): Promise<number> {
  const row = await db
    .selectFrom('conversations')
    .select('last_seq')
    .where('id', '=', conversation)
    .executeTakeFirst()
  return row?.last_seq ?? 0
}

/** Returns all conversations, or `only` one, in the order of their ids. */
export async function listConversations(
  db: Kysely<Tables>,
  only?: string,
): Promise<(Omit<ConversationEntry, 'agents'> & { lastAt: number })[]> {
  const { rows } = await sql<{ id: string; seq: number; title: string | null; pinned: number; at: number }>`
    select conversations.id, last_seq as seq, title, pinned, coalesce(messages.at, created_at) as at
    from conversations left join messages on messages.conversation_id = conversations.id
      and messages.seq = conversations.last_seq
    where ${only === undefined ? sql`true` : sql`conversations.id = ${only}`}
    order by conversations.id`.execute(db)
  return rows.map(({ id, seq, title, pinned, at }) => ({
    id,
    lastSeq: seq,
    lastAt: at,
    ...(title === null ? {} : { title }),
    ...(pinned === 1 ? { pinned: true } : {}),
  }))
}

/** Tells whether an author wrote in a conversation. */
export async function hasWritten(db: Kysely<Tables>, conversation: string, author: string): Promise<boolean> {
  const row = await db
    .selectFrom('messages')
    .select('seq')
    .where('conversation_id', '=', conversation)
    .where('author', '=', author)
    .where('kind', '=', 'user')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Changes the title ('' gives it back its own) and the pin. Throws `not_found` where nothing was said yet. */
export async function changeConversation(
  tx: Tx,
  id: string,
  { title, pinned }: { title?: string | undefined; pinned?: boolean | undefined },
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('conversations')
    .set({
      ...(title === undefined ? {} : { title: toTitle(title) }),
      ...(pinned === undefined ? {} : { pinned: pinned ? 1 : 0 }),
    })
    .where('id', '=', id)
    .executeTakeFirst()
  if (numUpdatedRows === 0n)
    throw new HubError('not_found', `There is no conversation ${id}; its first message makes it.`)
}

/** Returns the ids of the conversations with the latest messages, the newest first. */
export async function recentConversations(db: Kysely<Tables>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select conversations.id from conversations
    left join messages on messages.conversation_id = conversations.id
      and messages.seq = conversations.last_seq
    order by coalesce(messages.at, conversations.created_at) desc, conversations.id
    limit ${limit}`.execute(db)
  return rows.map(row => row.id)
}

/** Returns the ids that begin with `text`, in order. */
export async function conversationsBeginning(
  db: Kysely<Tables>,
  text: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('conversations')
    .select('id')
    .where('id', '>=', text)
    .where('id', '<', `${text}~`)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(row => row.id)
}

function toChatMessage(row: MessageRow): ChatMessage {
  return {
    seq: row.seq,
    id: row.id,
    conversation: row.conversation_id,
    kind: row.kind,
    author: row.author,
    text: row.text,
    at: row.at,
    ...(row.client_id === null ? {} : { clientId: row.client_id }),
    ...(row.in_reply_to_json === null ? {} : { inReplyTo: parseJson(row.in_reply_to_json) as string[] }),
    ...(row.data_json === null ? {} : { data: parseJson(row.data_json) as Record<string, unknown> }),
  }
}

const withPictures = z.object({ images: z.array(storedPicture).default([]) })

/** Returns the pictures that a person sent with a message; none if the conversation was deleted since. */
export async function picturesOfMessage(db: Kysely<Tables>, conversation: string, seq: number) {
  const row = await db
    .selectFrom('messages')
    .select('data_json')
    .where('conversation_id', '=', conversation)
    .where('seq', '=', seq)
    .executeTakeFirst()
  return withPictures.parse(parseJson(row?.data_json ?? '{}')).images
}
