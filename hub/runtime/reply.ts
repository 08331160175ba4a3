import type { JsonObject } from '../core/forwarding.ts'
import type { InboxItem } from '../store/inbox.ts'

/**
 * Where a cycle's final text goes: the conversation of the newest user message; without one, what the newest item that
 * remembers a conversation remembers; for a wake-up, a task's result or an answered approval else the agent's first
 * conversation; else nowhere.
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

/** A reminder, or a result that someone waits for. */
function isAwaited({ payload }: InboxItem): boolean {
  return payload.kind === 'wake' || payload.kind === 'approval' || (payload.kind === 'task' && !payload.quiet)
}

/** Whether a text that goes to the conversation may tell of what is no message; null is nowhere. */
export function isToldIn(
  item: InboxItem,
  conversation: string | null,
  { conversations, task }: { conversations: readonly string[]; task?: object | undefined },
): boolean {
  const place = item.conversation ?? (isAwaited(item) ? conversations[0] : undefined)
  return task !== undefined || place === undefined || place === conversation
}

/** The schema that the answer to a message must fit. */
export function schemaOf({ payload }: InboxItem): JsonObject | undefined {
  return payload.kind === 'message' ? payload.schema : undefined
}

/** The user messages among the items that a cycle took. */
export function userMessages(items: readonly InboxItem[]) {
  return items.flatMap(item => (item.payload.kind === 'message' ? [item.payload] : []))
}
