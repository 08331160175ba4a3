import type { InboxItem } from '../store/inbox.ts'

export interface SizedItem {
  item: InboxItem
  /** Tokens of the item as the batch shows it whole. */
  tokens: number
}

export interface BatchRoom {
  /** Tokens that the items of a batch may have together. */
  free: number
  /** Tokens that it holds after a compaction: one item may have so many. */
  most: number
  /** People's messages of so many conversations at most: each wants an answer of its own within the cycle's steps. */
  conversations: number
}

export interface Batch {
  /** In the order of their arrival. */
  items: InboxItem[]
  /** The one item that is too long for any window. */
  cut: SizedItem | undefined
}

/**
 * What of the waiting items, given in the order in which they are wanted, makes the next batch. Fresh starts always do,
 * and the first of the others even if it is too long; then each that fits, up to the first that does not.
 */
export function decideBatch(waiting: readonly SizedItem[], room: BatchRoom): Batch {
  const resets = waiting.filter(({ item }) => item.payload.kind === 'reset')
  const others = waiting.filter(({ item }) => item.payload.kind !== 'reset')
  const [first, ...rest] = others
  const cut = first && first.tokens > room.most ? first : undefined
  const used = sum(resets) + (first ? Math.min(first.tokens, room.most) : 0)
  const taken = first ? [first, ...takeFitting(rest, { ...room, free: room.free - used }, first)] : []
  return { items: inOrder([...resets, ...taken]), cut }
}

/** What of the waiting items joins a cycle that runs: none that does not fit whole. A fresh start waits. */
export function decideUpdate(waiting: readonly SizedItem[], room: Omit<BatchRoom, 'most'>): InboxItem[] {
  const others = waiting.filter(({ item }) => item.payload.kind !== 'reset')
  return inOrder(takeFitting(others, room))
}

function takeFitting(
  items: readonly SizedItem[],
  { free, conversations }: Omit<BatchRoom, 'most'>,
  first?: SizedItem,
): SizedItem[] {
  const asking = new Set(first ? conversationOf(first) : [])
  const taken: SizedItem[] = []
  let left = free
  for (const each of items) {
    const [conversation] = conversationOf(each)
    if (conversation !== undefined && !asking.has(conversation)) {
      if (asking.size >= conversations) continue
      asking.add(conversation)
    }
    left -= each.tokens
    if (left < 0) break
    taken.push(each)
  }
  return taken
}

/** The conversation of a person's message; none for anything else. */
function conversationOf({ item: { payload } }: SizedItem): string[] {
  return payload.kind === 'message' ? [payload.conversation] : []
}

function inOrder(items: readonly SizedItem[]): InboxItem[] {
  return items.map(({ item }) => item).sort((a, b) => a.seq - b.seq)
}

function sum(items: readonly SizedItem[]): number {
  return items.reduce((total, { tokens }) => total + tokens, 0)
}
