import type { ChatMessage, NewUserMessage } from '../../schemas/chat.ts'
import type { FileEntry } from '../../schemas/files.ts'
import { HUB } from '../../schemas/tokens.ts'
import { appendMessage, appendOnce } from '../store/conversations.ts'
import type { Tx } from '../store/writer.ts'
import type { RuntimeDeps } from './deps.ts'

/** Appends a person's message. A repeat of the same `clientId`, author and conversation gives the first one. */
export function appendUserMessage(
  { clock, newId }: Pick<RuntimeDeps, 'clock' | 'newId'>,
  tx: Tx,
  { conversation, text, author, clientId, images = [] }: NewUserMessage,
  files: readonly FileEntry[] = [],
): Promise<{ posted: ChatMessage; isNew: boolean }> {
  return appendOnce(tx, {
    id: newId('msg'),
    conversation,
    kind: 'user',
    author,
    text,
    at: clock.now(),
    ...(clientId === undefined ? {} : { token: author, clientId }),
    ...(images.length + files.length === 0
      ? {}
      : { data: { ...(images.length && { images }), ...(files.length && { files }) } }),
  })
}

/** Appends the hub's own answer to a person's message. */
export function appendAnswer(
  { newId }: Pick<RuntimeDeps, 'newId'>,
  tx: Tx,
  { id, conversation, at }: ChatMessage,
  text: string,
): Promise<ChatMessage> {
  const notice = { id: newId('msg'), conversation, kind: 'notice' as const, author: HUB, text, at }
  return appendMessage(tx, { ...notice, inReplyTo: [id] })
}
