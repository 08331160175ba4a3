import type { JsonObject } from '../core/forwarding.ts'
import type { InboxItem } from '../store/inbox.ts'

/**
 * Decides where a cycle's final text goes: to the conversation of the newest user message; without one, to
 * that of the newest item that remembers one; for a wake-up, a task's result or an answered approval else to
 * the agent's first conversation; else nowhere.
 */
export function decideReplyTo(
  items: readonly InboxItem[],
  firstConversation: string | undefined,
): string | null {
  const message = userMessages(items).at(-1)
  if (message) return message.conversation
  const remembered = items.findLast(item => item.conversation !== null)?.conversation
  if (remembered) return remembered
  return items.some(isAwaited) ? (firstConversation ?? null) : null
}

/** Tells whether an item is a reminder, or a result that someone waits for. */
function isAwaited({ payload }: InboxItem): boolean {
  return payload.kind === 'wake' || payload.kind === 'approval' || (payload.kind === 'task' && !payload.quiet)
}

/** Tells whether a text for the conversation (null is nowhere) may tell of an item that is no message. */
export function isToldIn(
  item: InboxItem,
  conversation: string | null,
  { conversations, task }: { conversations: readonly string[]; task?: object | undefined },
): boolean {
  const place = item.conversation ?? (isAwaited(item) ? conversations[0] : undefined)
  return task !== undefined || place === undefined || place === conversation
}

/** Returns the schema that the answer to a message must fit. */
export function schemaOf({ payload }: InboxItem): JsonObject | undefined {
  return payload.kind === 'message' ? payload.schema : undefined
}

/** Returns the user messages among the items that a cycle took. */
export function userMessages(items: readonly InboxItem[]) {
  return items.flatMap(item => (item.payload.kind === 'message' ? [item.payload] : []))
}
