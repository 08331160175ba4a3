import type { Power } from '../../schemas/power.ts'
import type { InboxItem } from '../store/inbox.ts'
import { decideReplyTo, isToldIn, schemaOf } from './reply.ts'

export interface SizedItem {
  item: InboxItem
  /** Tokens of the item as the batch shows it whole. */
  tokens: number
}

export interface BatchRoom {
  /** Tokens that the items of a batch may have together. */
  free: number
  /** Tokens that are free after a compaction: one item may have so many. */
  most: number
  /** Most conversations of a batch: the messages of each want their own answer within the cycle's steps. */
  conversations: number
}

type Agent = Parameters<typeof isToldIn>[2]

export interface Batch {
  /** The items in the order of their arrival. */
  items: InboxItem[]
  /** The one item that is too long for any window. */
  cut: SizedItem | undefined
}

/**
 * Decides which of the waiting items, given in the order in which they are wanted, make the next batch. Fresh
 * starts always do, and the first of the others even if it is too long; then each that fits, up to the first
 * that does not. Items of different power never share a batch, and people never wait for others' items. An
 * item that is to be told in another conversation than the batch's waits for a batch of its
 * own, and so does a message with a schema: its answer is JSON, which tells nobody else anything.
 */
export function decideBatch(waiting: readonly SizedItem[], room: BatchRoom, agent: Agent): Batch {
  const resets = waiting.filter(({ item }) => item.payload.kind === 'reset')
  const others = waiting.filter(({ item }) => item.payload.kind !== 'reset')
  const first = others.find(({ item }) => item.power === 'person') ?? others.find(isAsking) ?? others[0]
  if (!first) return { items: inOrder(resets), cut: undefined }
  const rest = others.filter(each => each !== first && sharesPower(each.item, first.item.power))
  const cut = first.tokens > room.most ? first : undefined
  if (schemaOf(first.item)) return { items: inOrder([...resets, first]), cut }
  const left = { ...room, free: room.free - sum(resets) - Math.min(first.tokens, room.most) }
  const next = rest.findIndex(({ item }) => schemaOf(item))
  const people = takeFitting(rest.slice(0, next < 0 ? rest.length : next).filter(isMessage), left, first)
  const messages = [first, ...people].filter(isMessage)
  const target = decideReplyTo(inOrder(messages.length > 0 ? messages : [first]), agent.conversations[0])
  const free = left.free - sum(people)
  const isWhole = people.length === rest.filter(isMessage).length
  const told = rest.filter(each => !isMessage(each) && isToldIn(each.item, target, agent))
  const joining = isWhole ? takeFitting(told, { ...room, free }) : []
  return { items: inOrder([...resets, first, ...people, ...joining]), cut }
}

/** Returns the power of a batch's items; of one that only starts fresh, a person's. */
export function powerOf(items: readonly InboxItem[]): Power {
  const others = items.filter(({ payload }) => payload.kind !== 'reset')
  return (others.find(item => isAsking({ item })) ?? others[0])?.power ?? 'person'
}

/**
 * Tells whether an item may be in a cycle of this power. A result of the house's own work that nobody waits for
 * asks for nothing, and is told to people too.
 */
export function sharesPower(item: InboxItem, power: Power): boolean {
  return item.power === power || (!isAsking({ item }) && item.power === 'routine' && power === 'person')
}

function isAsking({ item: { payload } }: Pick<SizedItem, 'item'>): boolean {
  return payload.kind !== 'task' || !payload.quiet
}

/**
 * Tells whether texts from outside may stand in an item: it comes from work that read some, brings results, or
 * has files.
 */
export function mayBeForeign({ payload, hasReadForeign = false }: InboxItem): boolean {
  if (payload.kind === 'message') return hasReadForeign || payload.files !== undefined
  return hasReadForeign || payload.kind === 'task' || payload.kind === 'agent' || payload.kind === 'approval'
}

function isMessage({ item }: SizedItem): boolean {
  return item.payload.kind === 'message'
}

/** Decides which waiting items join a running cycle: none that does not fit whole, and no fresh start. */
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

/** Returns the conversation of a person's message; empty for any other item. */
function conversationOf({ item: { payload } }: SizedItem): string[] {
  return payload.kind === 'message' ? [payload.conversation] : []
}

function inOrder(items: readonly SizedItem[]): InboxItem[] {
  return items.map(({ item }) => item).sort((a, b) => a.seq - b.seq)
}

function sum(items: readonly SizedItem[]): number {
  return items.reduce((total, { tokens }) => total + tokens, 0)
}
